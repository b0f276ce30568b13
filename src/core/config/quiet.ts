/** Times at which a person wants to hear nothing. */
import { minuteMs } from "../timing.ts";
import type { Config } from "./config.ts";

/** A wall time, and the local minute of the day that it is: 0 to 1439. */
export interface LocalTime {
  readonly at: number;
  readonly minuteOfDay: number;
}

/** A quiet mode that is on. */
export interface Quiet {
  readonly by: "you" | "quiet hours";
  /** Wall time; null: until it is turned off. */
  readonly until: number | null;
}

/** null: alerts are shown. */
export function findQuietMode(
  asked: number | null,
  hours: Config["quietHours"],
  now: LocalTime,
): Quiet | null {
  if (asked !== null && asked > now.at) {
    return { by: "you", until: asked === Number.MAX_SAFE_INTEGER ? null : asked };
  }
  const found = computeQuietHours(hours, now);
  return found?.isOn ? { by: "quiet hours", until: found.changesAt } : null;
}

const dayMinutes = 24 * 60;
/** Clocks are set forward and back on a full quarter of an hour: nobody should rely on a farther edge. */
const quarterMinutes = 15;

export interface QuietHours {
  readonly isOn: boolean;
  /** Wall time at which it should be looked at again: they begin or end, or the clocks may have changed. */
  readonly checkAt: number;
  /** Wall time at which they end or begin. */
  readonly changesAt: number;
}

/** null: the person has set none. */
export function computeQuietHours(hours: Config["quietHours"], now: LocalTime): QuietHours | null {
  if (hours === null || hours.from === hours.to) return null;
  const from = minuteOf(hours.from);
  const to = minuteOf(hours.to);
  const untilEnd = wrapped(to - now.minuteOfDay) || dayMinutes;
  const untilStart = wrapped(from - now.minuteOfDay) || dayMinutes;
  const isOn = untilEnd < untilStart;
  const left = isOn ? untilEnd : untilStart;
  const minute = now.at - (now.at % minuteMs);
  const after = (minutes: number): number => minute + minutes * minuteMs;
  const quarter = quarterMinutes - (now.minuteOfDay % quarterMinutes);
  return { isOn, changesAt: after(left), checkAt: after(Math.min(left, quarter)) };
}

/** An hour off on the two days on which the clocks are changed. */
export function nextMidnight(now: LocalTime): number {
  return now.at - (now.at % minuteMs) + (dayMinutes - now.minuteOfDay) * minuteMs;
}

function minuteOf(time: string): number {
  const [hours, minutes] = time.split(":").map(Number);
  return wrapped((hours ?? 0) * 60 + (minutes ?? 0));
}

/** -30 → 1410. What is no time at all is midnight. */
function wrapped(minutes: number): number {
  const whole = Math.floor(minutes);
  return Number.isFinite(whole) ? ((whole % dayMinutes) + dayMinutes) % dayMinutes : 0;
}
