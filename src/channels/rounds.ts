/** When the rounds of the sink run: many changes share one, and a pause follows one that took long. */
import type { Schedule } from "../core/ports.ts";
import type { ClockReading } from "../core/session/event.ts";
import { createEarliestTimer } from "../system/schedule.ts";

export interface RoundsOptions<Situation> {
  readonly clock: () => ClockReading;
  readonly schedule: Schedule;
  /** No round runs earlier after the start. */
  readonly firstMs: number;
  /** What must be read before a round. Waiting for it costs nothing, so it does not count. */
  readonly prepare: () => Promise<Situation>;
  readonly run: (situation: Situation) => void;
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
/** The pause after a round is so many times as long as it took: a storm of events costs a hundredth of the time. */
const pauseFactor = 100;
/** A message is to be marked as answered within 2 s, which can take two rounds, whatever a round costs. */
const maxPauseMs = 1_000;
/** A flood of requests that end must not make one round follow another. */
const minPauseMs = 100;

export function createRounds<Situation>(options: RoundsOptions<Situation>): Rounds {
  const { clock, schedule } = options;
  const firstT = clock().t + options.firstMs;
  let pausedUntilT = Number.NEGATIVE_INFINITY;
  let endedT = Number.NEGATIVE_INFINITY;
  let isRoundSoon = false;
  let isRunning = false;
  let isStopped = false;

  const timer = createEarliestTimer(clock, schedule, () => {
    isRoundSoon = false;
    void runRound();
  });

  function startTimer(t: number): void {
    if (!isStopped) timer.startAt(Math.max(t, firstT));
  }

  /** A round that is being prepared will see everything that changes until then. */
  async function runRound(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    try {
      const situation = await options.prepare();
      if (isStopped) return;
      const startedT = clock().t;
      options.run(situation);
      endedT = clock().t;
      pausedUntilT = endedT + Math.min(maxPauseMs, (endedT - startedT) * pauseFactor);
    } catch (error) {
      options.onError(error);
    } finally {
      isRunning = false;
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
      isStopped = true;
      timer.cancel();
    },
  };
}
