/** Calls the sinks' `render` soon after changes, rarely enough that a storm of events costs little, and when time is due. */
import type { Schedule, Sink, StateView } from "../core/interfaces/index.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { timing } from "../core/timing.ts";
import { withLocalTime } from "../system/clock.ts";
import { createRounds } from "../system/rounds.ts";
import { schedule as systemSchedule } from "../system/schedule.ts";

export interface RenderLoopOptions {
  readonly clock: () => ClockReading;
  /** Every session as it stands at that moment. */
  readonly sessions: (now: ClockReading) => readonly Session[];
  readonly onProblem: (text: string) => void;
  readonly schedule?: Schedule;
}

export interface RenderLoop extends Required<Pick<Sink, "onChange" | "onRefresh" | "onSettingsChanged">> {
  add(sink: Sink): void;
  /** Something that is shown may have changed. */
  refresh(): void;
  stop(): void;
}

/** After a change the state settles: after 0.3 s, and 1 s where an agent's status file contradicts its hooks. */
const settledAfterMs = [timing.settleMs + 50, timing.contradictionMs + 50] as const;
const minPauseMs = 20;
const pauseFactor = 5;

export function createRenderLoop(options: RenderLoopOptions): RenderLoop {
  const { clock, sessions, onProblem, schedule = systemSchedule } = options;
  const sinks = new Set<Sink>();
  let changedT = clock().t;

  const rounds = createRounds({
    clock,
    schedule,
    // Nothing is shown before the restored state has settled.
    firstMs: settledAfterMs[1],
    // One slow round alone (a garbage collection, a busy machine) does not slow down the next.
    pauseAfter: (busyMs, lastBusyMs) => Math.max(minPauseMs, Math.min(busyMs, lastBusyMs) * pauseFactor),
    prepare: async () => {},
    run: renderAll,
    onError: (error) => onProblem(`could not show the sessions: ${error}`),
  });

  async function renderAll(): Promise<void> {
    const now = clock();
    const view: StateView = { sessions: sessions(now), now: withLocalTime(now) };
    const dueAt = Math.min(...(await Promise.all([...sinks].map((sink) => renderOne(sink, view)))));
    const { t, at } = clock();
    rounds.runAt(t + dueAt - at);
    for (const ms of settledAfterMs) if (changedT + ms > t) rounds.runAt(changedT + ms);
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
    rounds.runAt(changedT);
  }

  return {
    add(sink) {
      sinks.add(sink);
      refresh();
    },
    refresh,
    onChange: refresh,
    onRefresh: refresh,
    onSettingsChanged: refresh,
    stop: rounds.stop,
  };
}
