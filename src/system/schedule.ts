import type { Schedule } from "../core/ports.ts";

/** The system's timers. */
export const schedule: Schedule = (work, ms) => {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
};
