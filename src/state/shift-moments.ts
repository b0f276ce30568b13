/** Puts moments on other clocks: after a reboot, or from another machine. Pure. */
import { isRecord } from "../core/json.ts";
import type { Moment } from "../core/session/event.ts";

const wallTimes: ReadonlySet<string> = new Set(["at", "startedAt", "since", "resetsAt"]);
const stamps: ReadonlySet<string> = new Set(["t", "newest"]);

/** Every number with one of these names is a moment, wherever it is in the value. `by` is added to it. */
export function shiftMoments<T>(value: T, by: Moment): T {
  if (Array.isArray(value)) return value.map((item) => shiftMoments(item, by)) as T;
  if (!isRecord(value)) return value;
  const shifted: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    const isNumber = typeof inner === "number";
    if (isNumber && wallTimes.has(name)) shifted[name] = inner + by.at;
    else if (isNumber && stamps.has(name)) shifted[name] = inner + by.t;
    else shifted[name] = shiftMoments(inner, by);
  }
  return shifted as T;
}
