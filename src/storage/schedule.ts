import type { Schedule } from "../core/ports.ts";

/** The system's timers. A timer that is waiting does not keep the process alive. */
export const schedule: Schedule = (work, ms) => {
  const timer = setTimeout(work, ms);
  timer.unref();
  return () => clearTimeout(timer);
};
