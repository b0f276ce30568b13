/** How long ago something happened, in steps of a minute or more, and when such a text or check changes next. */
import type { Moment } from "../session/event.ts";
import { elapsedMs } from "../session/phase.ts";
import { dayMs, hourMs, minuteMs } from "../timing.ts";
import { formatRoughAge } from "./figures.ts";

const quarterMs = 15 * minuteMs;

export interface Ages {
  /** "now", "3 min", "2 h", "1 day" */
  format(moment: Moment): string;
  isOlder(moment: Moment, thanMs: number): boolean;
  /** Exact, not in full minutes: for times that the user has set. */
  isFuture(at: number): boolean;
  /** The last full minute of the wall clock. Ages count from it, so that all of them change together. */
  readonly minute: Moment;
  /** The wall time at which a result returned so far changes; null if none does. */
  nextChange(): number | null;
}

export function createAges(now: Moment): Ages {
  const sinceMinuteMs = now.at % minuteMs;
  const minute = { at: now.at - sinceMinuteMs, t: now.t - sinceMinuteMs };
  let next = Number.MAX_SAFE_INTEGER;
  const changeAt = (at: number): void => {
    if (at > now.at) next = Math.min(next, at);
  };
  const changeIn = (ms: number): void => changeAt(minute.at + Math.ceil(ms / minuteMs) * minuteMs);

  return {
    format(moment) {
      const ms = elapsedMs(moment, minute);
      const step = ms < hourMs ? minuteMs : ms < dayMs ? hourMs : dayMs;
      changeIn(step - (ms % step));
      return formatRoughAge(ms);
    },
    isOlder(moment, thanMs) {
      const left = thanMs - elapsedMs(moment, minute);
      if (left > 0) changeIn(left);
      return left <= 0;
    },
    isFuture(at) {
      changeAt(at);
      // Its text may say "tomorrow". Midnight is at a full quarter of an hour in every time zone.
      if (at > now.at && at < Number.MAX_SAFE_INTEGER) changeAt(now.at - (now.at % quarterMs) + quarterMs);
      return at > now.at;
    },
    minute,
    nextChange: () => (next === Number.MAX_SAFE_INTEGER ? null : next),
  };
}
