/** Time that moves only when a test says so: a clock, timers, and a way to let everything due happen. */
import type { Schedule } from "../src/core/interfaces/index.ts";
import type { ClockReading } from "../src/core/session/event.ts";

export interface VirtualTime {
  clock(): ClockReading;
  readonly schedule: Schedule;
  /** Runs all timers due within `ms`, in order, and lets promises settle after each. */
  advance(ms: number): Promise<void>;
}

const startedAt = 1_790_000_000_000;

/** Promises that were resolved have run their handlers by then, also a few of them in a row. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export function createVirtualTime(): VirtualTime {
  const timers = new Set<{ readonly dueT: number; readonly work: () => void }>();
  let t = 1_000_000;
  return {
    clock: () => ({ at: startedAt + t, t, boot: "boot", host: "host" }),
    schedule(work, ms) {
      const timer = { dueT: t + ms, work };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const endT = t + ms;
      await settle();
      for (;;) {
        const [next] = [...timers].filter(({ dueT }) => dueT <= endT).sort((a, b) => a.dueT - b.dueT);
        if (!next) break;
        timers.delete(next);
        t = Math.max(t, next.dueT);
        next.work();
        await settle();
      }
      t = endT;
    },
  };
}
