/** Moments on other clocks: puts them on this machine's after a reboot, or from another machine, and checks these. Pure. */
import { isRecord } from "../core/json.ts";
import type { Moment } from "../core/session/event.ts";

const wallTimes: ReadonlySet<string> = new Set(["at", "startedAt", "since", "resetsAt"]);
const stamps: ReadonlySet<string> = new Set(["t", "newest"]);

/** Every number with one of these names is a moment, wherever it is in the value. `by` is added to it. */
export function shiftMoments<T>(value: T, by: Moment): T {
  if (Array.isArray(value)) return value.map((item) => shiftMoments(item, by)) as T;
  if (!isRecord(value)) return value;
  const shifted: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const inner = value[name];
    const isNumber = typeof inner === "number";
    if (isNumber && wallTimes.has(name)) shifted[name] = inner + by.at;
    else if (isNumber && stamps.has(name)) shifted[name] = inner + by.t;
    else shifted[name] = shiftMoments(inner, by);
  }
  return shifted as T;
}

/** Clocks drift, and are set. A limit that is reached is lifted within weeks. */
const maxAheadMs = 366 * 24 * 60 * 60_000;
const maxAgeMs = 10 * maxAheadMs;

/**
 * Whether every moment in the value can be true, and every other number is an amount. Others could not be sorted, subtracted or
 * written as a date.
 */
export function hasPlausibleNumbers(value: unknown, now: Moment, name = ""): boolean {
  if (typeof value === "number") {
    const origin = wallTimes.has(name) ? now.at : stamps.has(name) ? now.t : null;
    return origin === null
      ? value >= 0 && value <= Number.MAX_SAFE_INTEGER
      : value >= origin - maxAgeMs && value <= origin + maxAheadMs;
  }
  if (Array.isArray(value)) return value.every((item) => hasPlausibleNumbers(item, now));
  return (
    !isRecord(value) || Object.keys(value).every((field) => hasPlausibleNumbers(value[field], now, field))
  );
}
