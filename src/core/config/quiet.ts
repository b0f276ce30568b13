/** When the user wants no alerts: quiet modes and quiet hours. */
import { minuteMs } from "../timing.ts";
import type { Config } from "./config.ts";

/** A wall time and its local minute of the day, 0 to 1439. */
export interface LocalTime {
  readonly at: number;
  readonly minuteOfDay: number;
}

/** A quiet mode that is on now. */
export interface Quiet {
  readonly by: "you" | "quiet hours";
  /** Wall time; null until it is turned off. */
  readonly until: number | null;
}

/** Returns null if alerts are shown. */
export function findQuietMode(
  quietUntil: number | null,
  hours: Config["quietHours"],
  now: LocalTime,
): Quiet | null {
  if (quietUntil !== null && quietUntil > now.at) {
    return { by: "you", until: quietUntil === Number.MAX_SAFE_INTEGER ? null : quietUntil };
  }
  const computed = computeQuietHours(hours, now);
  return computed?.isOn ? { by: "quiet hours", until: computed.changesAt } : null;
}

const dayMinutes = 24 * 60;
/** Clocks change at a full quarter of an hour, so a time beyond the next quarter is not certain. */
const quarterMinutes = 15;

export interface QuietHours {
  readonly isOn: boolean;
  /** Wall time at which to compute this again: the quiet hours start or end, or the clocks may have changed. */
  readonly checkAt: number;
  /** Wall time at which they end or start. */
  readonly changesAt: number;
}

/** Returns null if none are set. */
export function computeQuietHours(hours: Config["quietHours"], now: LocalTime): QuietHours | null {
  if (hours === null || hours.from === hours.to) return null;
  const from = parseTimeOfDay(hours.from);
  const to = parseTimeOfDay(hours.to);
  const untilEnd = wrapMinutes(to - now.minuteOfDay) || dayMinutes;
  const untilStart = wrapMinutes(from - now.minuteOfDay) || dayMinutes;
  const isOn = untilEnd < untilStart;
  const left = isOn ? untilEnd : untilStart;
  const minute = now.at - (now.at % minuteMs);
  const after = (minutes: number): number => minute + minutes * minuteMs;
  const quarter = quarterMinutes - (now.minuteOfDay % quarterMinutes);
  return { isOn, changesAt: after(left), checkAt: after(Math.min(left, quarter)) };
}

/** An hour off on the two days a year on which the clocks change. */
export function findNextMidnight(now: LocalTime): number {
  return now.at - (now.at % minuteMs) + (dayMinutes - now.minuteOfDay) * minuteMs;
}

function parseTimeOfDay(time: string): number {
  const [hours, minutes] = time.split(":").map(Number);
  return wrapMinutes((hours ?? 0) * 60 + (minutes ?? 0));
}

/** -30 → 1410. An invalid time is midnight. */
function wrapMinutes(minutes: number): number {
  const whole = Math.floor(minutes);
  return Number.isFinite(whole) ? ((whole % dayMinutes) + dayMinutes) % dayMinutes : 0;
}
