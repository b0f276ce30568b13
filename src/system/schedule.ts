/** Timers, deadlines and pauses. */
import type { Schedule } from "../core/interfaces/index.ts";
import type { ClockReading } from "../core/session/event.ts";
import { hourMs } from "../core/timing.ts";

/** The system's timers. A timer that is waiting does not keep the process alive. */
export const schedule: Schedule = (work, ms) => {
  if (ms <= 0) {
    // Once what is being done now is done: a timer of 0 ms takes more than one.
    const immediate = setImmediate(work);
    return () => clearImmediate(immediate);
  }
  const timer = setTimeout(work, ms);
  timer.unref();
  return () => clearTimeout(timer);
};

const tickMs = 1_000;

/**
 * For work that is repeated every second: waits until the next full second of the process, so that all of it wakes the
 * process up once a second and not once each.
 */
export const scheduleTogether: Schedule = (work, ms) => {
  const now = performance.now();
  return schedule(work, Math.ceil((now + ms / 2) / tickMs) * tickMs - now);
};

export interface EarliestTimer {
  /** `t` is monotonic time. Does nothing if the timer fires earlier anyway. */
  startAt(t: number): void;
  cancel(): void;
}

/** One timer for work that several reasons can ask for: the earliest of the times counts. It fires after an hour at the latest. */
export function createEarliestTimer(
  clock: () => ClockReading,
  schedule: Schedule,
  work: () => void,
): EarliestTimer {
  let cancelTimer = () => {};
  let timerT = Number.POSITIVE_INFINITY;
  return {
    startAt(t) {
      if (t >= timerT) return;
      cancelTimer();
      timerT = t;
      cancelTimer = schedule(
        () => {
          timerT = Number.POSITIVE_INFINITY;
          work();
        },
        Math.min(Math.max(0, t - clock().t), hourMs),
      );
    },
    cancel: () => cancelTimer(),
  };
}

/** A timer of this keeps the process alive. */
const scheduleAlive: Schedule = (work, ms) => {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
};

/** Resolves with undefined if the work takes longer than this. The work goes on. */
export async function waitAtMost<T>(
  ms: number,
  work: Promise<T>,
  schedule: Schedule = scheduleAlive,
): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const cancel = schedule(() => late.resolve(undefined), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    cancel();
  }
}

/** For what does not say when it is done. Resolves with false if it is not done after this long. */
export async function waitUntil(
  isDone: () => boolean | Promise<boolean>,
  { atMostMs, everyMs }: { readonly atMostMs: number; readonly everyMs: number },
): Promise<boolean> {
  const end = performance.now() + atMostMs;
  while (!(await isDone())) {
    if (performance.now() > end) return false;
    await Bun.sleep(everyMs);
  }
  return true;
}

/** Resolves after this long, or as soon as the signal is aborted. */
export function pause(ms: number, signal: AbortSignal, schedule: Schedule = scheduleAlive): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = schedule(end, ms);
    signal.addEventListener("abort", end);
  });
}
