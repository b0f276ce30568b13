import type { Schedule } from "../core/ports.ts";

/** The system's timers. A timer that is waiting does not keep the process alive. */
export const schedule: Schedule = (work, ms) => {
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
