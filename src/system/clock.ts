/** The clock that orders events, and the user's local time. */

import { readlinkSync } from "node:fs";
import type { LocalTime } from "../core/config/quiet.ts";
import type { ClockReading } from "../core/session/event.ts";
import { dayMs } from "../core/timing.ts";
import { readBootId, readSystemFile } from "./processes.ts";

/** How often the clock is compared with the system's uptime, which goes on while the machine sleeps. */
const compareMs = 1_000;
/** /proc/uptime counts in steps of 10 ms. */
const minSleepMs = 50;

interface ClockSources {
  /** A monotonic clock. In Bun it counts from the start of the process, and stops while the machine sleeps. */
  readonly elapsedMs?: () => number;
  /** Milliseconds since boot including sleep. null if unknown: then the clock starts with the process. */
  readonly uptimeMs?: () => number | null;
  /** Names this installation on systems that show no pid namespace, as its hooks do. */
  readonly installation?: string | null;
}

export function createClock({
  elapsedMs = () => performance.now(),
  uptimeMs = readUptimeMs,
  installation = null,
}: ClockSources = {}): () => ClockReading {
  const boot = readBootId();
  const host = process.platform === "linux" ? readNamespace(boot) : installation;
  let base = (uptimeMs() ?? 0) - elapsedMs();
  let comparedAt = elapsedMs();
  return () => {
    const elapsed = elapsedMs();
    if (elapsed - comparedAt > compareMs) {
      comparedAt = elapsed;
      const sleptMs = (uptimeMs() ?? 0) - elapsed - base;
      if (sleptMs > minSleepMs) base += sleptMs;
    }
    return { at: Date.now(), t: base + elapsed, boot, host };
  };
}

function readUptimeMs(): number | null {
  const seconds = Number.parseFloat(readSystemFile("/proc/uptime") ?? "");
  return Number.isFinite(seconds) ? seconds * 1_000 : null;
}

/** Equal for processes that see each other's pids: same boot, same pid namespace. */
function readNamespace(boot: string | null): string | null {
  try {
    return `${boot}/${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return null;
  }
}

const morningHour = 8;

function minuteOfDay(at: number): number {
  const local = new Date(at);
  return local.getHours() * 60 + local.getMinutes();
}

/** Adds the local minute of the day to a reading. */
export function withLocalTime<Reading extends { readonly at: number }>(now: Reading): Reading & LocalTime {
  return { ...now, minuteOfDay: minuteOfDay(now.at) };
}

/** `14:20`, with the day if it is not today: `tomorrow 08:00`, `Mon 14:20`, `3 Nov 14:20`. */
export function formatLocalTime(at: number, now: number): string {
  const local = new Date(at);
  const time = `${padToTwo(local.getHours())}:${padToTwo(local.getMinutes())}`;
  const days = dayNumber(at) - dayNumber(now);
  if (days === 0) return time;
  if (days === 1) return `tomorrow ${time}`;
  if (Math.abs(days) < 7) return `${local.toLocaleDateString("en", { weekday: "short" })} ${time}`;
  return `${local.getDate()} ${local.toLocaleDateString("en", { month: "short" })} ${time}`;
}

/** The local day: "2026-11-17". */
export function formatLocalDate(at: number): string {
  const local = new Date(at);
  return `${local.getFullYear()}-${padToTwo(local.getMonth() + 1)}-${padToTwo(local.getDate())}`;
}

/** 08:00 of the next day, or of the same day if `at` is before that. */
export function findNextMorning(at: number): number {
  const local = new Date(at);
  const isNight = local.getHours() < morningHour;
  const day = local.getDate() + (isNight ? 0 : 1);
  return new Date(local.getFullYear(), local.getMonth(), day, morningHour).getTime();
}

/** The next moment that has this time of the day, "15:00" or "9:05", as wall time; null if it is not one. */
export function parseLocalTime(text: string, now: number): number | null {
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

function padToTwo(value: number): string {
  return String(value).padStart(2, "0");
}

/** A number that grows by one with each local day. Noon is used because a day of a clock change is not 24 hours long. */
function dayNumber(at: number): number {
  const local = new Date(at);
  return Math.round(new Date(local.getFullYear(), local.getMonth(), local.getDate(), 12).getTime() / dayMs);
}
