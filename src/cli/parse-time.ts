/** A time of the day as a user types it. */

/** The next moment that has this time, "15:00" or "9:05", as wall time; null if it is not one. */
export function parseTime(text: string, now: number): number | null {
  const moment = setTime(text, now);
  if (moment && moment.getTime() <= now) moment.setDate(moment.getDate() + 1);
  return moment?.getTime() ?? null;
}

/** The last moment that has this time, "14:20", "yesterday 14:20" or "2026-11-17 14:20", as wall time; null if it is not one. */
export function parsePastTime(text: string, now: number): number | null {
  const [, day = "", time = ""] = /^\s*(?:(today|yesterday)\s+)?(\d{1,2}:\d{2})\s*$/i.exec(text) ?? [];
  const moment = setTime(time, now);
  if (!moment) return parseDate(text);
  const isBefore = day.toLowerCase() === "yesterday" || (day === "" && moment.getTime() > now);
  if (isBefore) moment.setDate(moment.getDate() - 1);
  return moment.getTime();
}

/** A date alone would be midnight in Greenwich. */
function parseDate(text: string): number | null {
  const at = /^\s*\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/.test(text) ? Date.parse(text.trim()) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

/** The day of `now` at this time. */
function setTime(text: string, now: number): Date | null {
  const [, hours = "", minutes = ""] = /^(\d{1,2}):(\d{2})$/.exec(text.trim()) ?? [];
  if (hours === "" || Number(hours) > 23 || Number(minutes) > 59) return null;
  const moment = new Date(now);
  moment.setHours(Number(hours), Number(minutes), 0, 0);
  return moment;
}
