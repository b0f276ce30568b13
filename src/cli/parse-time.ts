/** A time of the day as a user types it. */

/** The next moment that has this time, "15:00" or "9:05", as wall time; null if it is not one. */
export function parseTime(text: string, now: number): number | null {
  const [, hours = "", minutes = ""] = /^(\d{1,2}):(\d{2})$/.exec(text.trim()) ?? [];
  if (hours === "" || Number(hours) > 23 || Number(minutes) > 59) return null;
  const moment = new Date(now);
  moment.setHours(Number(hours), Number(minutes), 0, 0);
  if (moment.getTime() <= now) moment.setDate(moment.getDate() + 1);
  return moment.getTime();
}
