/** How long ago, in words coarse enough that a menu does not change each second, and when the next word is due. */

import type { Moment } from "../session/event.ts";
import { elapsedMs } from "../session/phase.ts";
import { dayMs, hourMs, minuteMs } from "../timing.ts";

const quarterMs = 15 * minuteMs;

export interface Ages {
  /** "now", "3 min", "2 h", "1 day" */
  format(moment: Moment): string;
  isOlder(moment: Moment, thanMs: number): boolean;
  /** For what a person set to end at a wall time: it ends then, not at the next full minute. */
  isFuture(at: number): boolean;
  /** As of the last full minute of the wall clock, so that all ages change together. */
  readonly minute: Moment;
  /** The wall time at which an answer given so far becomes another; null: never. */
  nextChange(): number | null;
}

export function createAges(now: Moment): Ages {
  const into = now.at % minuteMs;
  const minute = { at: now.at - into, t: now.t - into };
  let next = Number.MAX_SAFE_INTEGER;
  const wake = (at: number): void => {
    if (at > now.at) next = Math.min(next, at);
  };
  const wakeIn = (ms: number): void => wake(minute.at + Math.ceil(ms / minuteMs) * minuteMs);

  return {
    format(moment) {
      const ms = elapsedMs(moment, minute);
      const step = ms < hourMs ? minuteMs : ms < dayMs ? hourMs : dayMs;
      wakeIn(step - (ms % step));
      return ageOf(ms);
    },
    isOlder(moment, thanMs) {
      const left = thanMs - elapsedMs(moment, minute);
      if (left > 0) wakeIn(left);
      return left <= 0;
    },
    isFuture(at) {
      wake(at);
      // Its words may say "tomorrow": midnight is at a full quarter of an hour everywhere.
      if (at > now.at && at < Number.MAX_SAFE_INTEGER) wake(now.at - (now.at % quarterMs) + quarterMs);
      return at > now.at;
    },
    minute,
    nextChange: () => (next === Number.MAX_SAFE_INTEGER ? null : next),
  };
}

function ageOf(ms: number): string {
  if (ms < minuteMs) return "now";
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`;
  if (ms < dayMs) return `${Math.floor(ms / hourMs)} h`;
  const days = Math.floor(ms / dayMs);
  return days === 1 ? "1 day" : `${days} days`;
}
