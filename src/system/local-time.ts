/** The person's own clock: time zone and summer time are the system's. */

const morningHour = 8;

export function minuteOfDay(at: number): number {
  const local = new Date(at);
  return local.getHours() * 60 + local.getMinutes();
}

/** `14:20`, or with its day where that is not today: `tomorrow 08:00`, `Mon 14:20`, `3 Nov 14:20`. */
export function localClock(at: number, now: number): string {
  const local = new Date(at);
  const time = `${two(local.getHours())}:${two(local.getMinutes())}`;
  const days = dayOf(at) - dayOf(now);
  if (days === 0) return time;
  if (days === 1) return `tomorrow ${time}`;
  if (Math.abs(days) < 7) return `${local.toLocaleDateString("en", { weekday: "short" })} ${time}`;
  return `${local.getDate()} ${local.toLocaleDateString("en", { month: "short" })} ${time}`;
}

/** Eight in the morning of the next day; of this one, for those who are up before it. */
export function nextMorning(at: number): number {
  const local = new Date(at);
  const isNight = local.getHours() < morningHour;
  const day = local.getDate() + (isNight ? 0 : 1);
  return new Date(local.getFullYear(), local.getMonth(), day, morningHour).getTime();
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** Counted in local days. */
function dayOf(at: number): number {
  const local = new Date(at);
  return Math.round(
    new Date(local.getFullYear(), local.getMonth(), local.getDate(), 12).getTime() / 86_400_000,
  );
}
