/** Calls the sinks' `render` soon after changes, rarely enough that a storm of events costs little, and when time is due. */
import type { Schedule, Sink, StateView } from "../core/ports.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { timing } from "../core/timing.ts";
import { withLocalTime } from "../system/clock.ts";
import { createEarliestTimer, schedule as systemSchedule } from "../system/schedule.ts";

export interface RenderLoopOptions {
  readonly clock: () => ClockReading;
  /** Every session as it stands at that moment. */
  readonly sessions: (now: ClockReading) => readonly Session[];
  readonly onProblem: (text: string) => void;
  readonly schedule?: Schedule;
}

export interface RenderLoop {
  add(sink: Sink): void;
  /** Something that is shown may have changed. */
  refresh(): void;
  stop(): void;
}

/** After a change the state settles: after 0.3 s, and 1 s where an agent's status file contradicts its hooks. */
const settledAfterMs = [timing.settleMs + 50, timing.contradictionMs + 50] as const;
/** The shortest pause between two rounds, and how many times as long as a round took. */
const minPauseMs = 20;
const pauseFactor = 5;

export function createRenderLoop(options: RenderLoopOptions): RenderLoop {
  const { clock, sessions, onProblem, schedule = systemSchedule } = options;
  const sinks = new Set<Sink>();
  /** Nothing is shown before the restored state has settled. */
  const firstRoundT = clock().t + settledAfterMs[1];
  let changedT = clock().t;
  let renderedT = Number.NEGATIVE_INFINITY;
  let pauseMs = minPauseMs;
  let lastRoundMs = 0;
  let isRendering = false;
  let isStopped = false;

  const timer = createEarliestTimer(clock, schedule, () => {
    renderAll().catch((error) => onProblem(`could not show the sessions: ${error}`));
  });

  function renderAt(t: number): void {
    if (!isStopped) timer.startAt(t);
  }

  async function renderAll(): Promise<void> {
    // A refresh during a round is picked up at its end.
    if (isRendering || isStopped) return;
    isRendering = true;
    const startedT = clock().t;
    try {
      const now = clock();
      const view: StateView = {
        sessions: sessions(now),
        now: withLocalTime(now),
      };
      const rounds = [...sinks].map((sink) => renderOne(sink, view));
      const roundMs = clock().t - startedT;
      // One slow round alone (a garbage collection, a busy machine) does not slow down the next.
      pauseMs = Math.max(minPauseMs, Math.min(roundMs, lastRoundMs) * pauseFactor);
      lastRoundMs = roundMs;
      const dueAt = Math.min(...(await Promise.all(rounds)));
      renderedT = clock().t;
      if (Number.isFinite(dueAt)) renderAt(renderedT + Math.max(pauseMs, dueAt - clock().at));
      for (const ms of settledAfterMs) if (changedT + ms > renderedT) renderAt(changedT + ms);
    } finally {
      isRendering = false;
    }
    if (changedT >= startedT) renderAt(renderedT + pauseMs);
  }

  /** The wall time at which the sink wants to be called again. A sink that fails does not stop the others. */
  async function renderOne(sink: Sink, view: StateView): Promise<number> {
    try {
      return (await sink.render?.(view)) ?? Number.POSITIVE_INFINITY;
    } catch (error) {
      onProblem(`${sink.name} could not be updated: ${error}`);
      return Number.POSITIVE_INFINITY;
    }
  }

  function refresh(): void {
    if (sinks.size === 0) return;
    changedT = clock().t;
    renderAt(Math.max(changedT, renderedT + pauseMs, firstRoundT));
  }

  return {
    add(sink) {
      sinks.add(sink);
      refresh();
    },
    refresh,
    stop() {
      isStopped = true;
      timer.cancel();
    },
  };
}
