/**
 * When a view of the state is computed: many changes share one round, a pause follows a round that took long, and no two run at
 * the same time. Everything that shows sessions does it in rounds.
 */
import type { Schedule } from "../core/interfaces/index.ts";
import type { ClockReading } from "../core/session/event.ts";
import { createEarliestTimer } from "./schedule.ts";

export interface RoundsOptions<Situation> {
  readonly clock: () => ClockReading;
  readonly schedule: Schedule;
  /** No round runs earlier after the start. */
  readonly firstMs: number;
  /** How long to pause after a round that took `busyMs`; the one before it took `lastBusyMs`. */
  readonly pauseAfter: (busyMs: number, lastBusyMs: number) => number;
  /** What must be read before a round. Waiting for it costs nothing, so it does not count. */
  readonly prepare: () => Promise<Situation>;
  /** If it returns a promise, the wait is not counted, and no other round runs meanwhile. */
  readonly run: (situation: Situation) => void | Promise<void>;
  readonly onError: (error: unknown) => void;
}

export interface Rounds {
  /** Called for every event, so a round that is due soon anyway is left as it is. */
  runSoon(): void;
  /** `t` is monotonic time. */
  runAt(t: number): void;
  /** For what a user waits for: the pause after a round that took long is cut short. */
  runNow(): void;
  stop(): void;
}

export const roundMs = 50;
/** A flood of requests that end must not make one round follow another. */
const minPauseMs = 100;

export function createRounds<Situation>(options: RoundsOptions<Situation>): Rounds {
  const { clock, schedule } = options;
  const firstT = clock().t + options.firstMs;
  let pausedUntilT = Number.NEGATIVE_INFINITY;
  let endedT = Number.NEGATIVE_INFINITY;
  /** The next round that was asked for during this one. */
  let askedT = Number.POSITIVE_INFINITY;
  let lastBusyMs = 0;
  let isRoundSoon = false;
  let state: "idle" | "preparing" | "running" | "stopped" = "idle";

  const timer = createEarliestTimer(clock, schedule, () => {
    isRoundSoon = false;
    void runRound();
  });

  function startTimer(t: number): void {
    if (state === "running") askedT = Math.min(askedT, t);
    else if (state !== "stopped") timer.startAt(Math.max(t, firstT));
  }

  const isStopped = (): boolean => state === "stopped";

  async function runRound(): Promise<void> {
    // A round that is being prepared will see everything that changes until then.
    if (state !== "idle") return;
    state = "preparing";
    try {
      const situation = await options.prepare();
      if (isStopped()) return;
      state = "running";
      const startedT = clock().t;
      const running = options.run(situation);
      const busyMs = clock().t - startedT;
      if (running) await running;
      endedT = clock().t;
      pausedUntilT = endedT + options.pauseAfter(busyMs, lastBusyMs);
      lastBusyMs = busyMs;
    } catch (error) {
      options.onError(error);
    } finally {
      if (!isStopped()) state = "idle";
      const nextT = askedT;
      askedT = Number.POSITIVE_INFINITY;
      runAt(nextT);
    }
  }

  const runAt = (t: number): void => startTimer(Math.max(t, pausedUntilT));

  return {
    runSoon() {
      if (isRoundSoon) return;
      isRoundSoon = true;
      runAt(clock().t + roundMs);
    },
    runAt,
    runNow: () => startTimer(Math.max(clock().t, Math.min(pausedUntilT, endedT + minPauseMs))),
    stop() {
      state = "stopped";
      timer.cancel();
    },
  };
}
