/** Computes the statistics: how long sessions waited, asks, tokens and cost, by day, project and port. */
import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { DayStats, PortStats, ProjectStats, Stats, TodayStats } from "../../core/interfaces/wire.ts";
import { hourMs } from "../../core/timing.ts";
import { formatLocalDate } from "../../system/clock.ts";

type Values = SQLQueryBindings[];

interface DayRange {
  readonly date: string;
  readonly from: number;
  readonly to: number;
}

/** Local days, the oldest first. A day with a change of the clocks has 23 or 25 hours. */
function listDays(count: number, now: number): DayRange[] {
  const today = new Date(now);
  return Array.from({ length: count }, (_, index) => {
    const start = (offset: number) =>
      new Date(
        today.getFullYear(),
        today.getMonth(),
        today.getDate() - (count - 1 - index) + offset,
      ).getTime();
    return { date: formatLocalDate(start(0)), from: start(0), to: start(1) };
  });
}

interface UsageRow {
  readonly day: string;
  readonly project: string | null;
  readonly tokens: number;
  readonly cost_micros: number;
  readonly has_unknown_cost: number;
}

/** Adds up one project on one day, or more of both. */
interface Sums {
  waitedMs: number;
  asks: number;
  /** How long each answered ask had waited. */
  answers: number[];
  tokens: number;
  costMicros: number;
  /** Whether the price of all tokens is known. null if there are none. */
  isPriced: boolean | null;
  byRules: number;
}

const createSums = (): Sums => ({
  waitedMs: 0,
  asks: 0,
  answers: [],
  tokens: 0,
  costMicros: 0,
  isPriced: null,
  byRules: 0,
});

function addSums(all: Iterable<Sums>): Sums {
  const total = createSums();
  for (const sums of all) {
    total.waitedMs += sums.waitedMs;
    total.asks += sums.asks;
    total.answers = total.answers.concat(sums.answers);
    total.tokens += sums.tokens;
    total.costMicros += sums.costMicros;
    total.byRules += sums.byRules;
    if (sums.isPriced !== null) total.isPriced = (total.isPriced ?? true) && sums.isPriced;
  }
  return total;
}

function toFigures({ waitedMs, asks, answers, tokens, costMicros, isPriced }: Sums) {
  return { waitedMs, asks, medianMs: medianOf(answers), tokens, ...toCost(costMicros, isPriced) };
}

/** What is known of the cost. */
function toCost(costMicros: number, isPriced: boolean | null): Pick<DayStats, "costUsd" | "isCostPartial"> {
  if (isPriced) return { costUsd: costMicros / 1_000_000 };
  return costMicros === 0 ? { costUsd: null } : { costUsd: costMicros / 1_000_000, isCostPartial: true };
}

/** By project; the empty name is for sessions without one. */
type DaySums = Map<string, Sums>;

/** Days that are over, by their date: they do not change any more. */
export type StatsCache = Map<string, DaySums>;

export function computeStats(
  db: Database,
  dayCount: number,
  now: number,
  cache: StatsCache = new Map(),
): Stats {
  const days = listDays(dayCount, now);
  const known = days.findIndex(({ date }) => !cache.has(date));
  const missing = days.slice(known);
  const { sums, longest } = sumDays(db, missing, now);
  const byDay = [...days.slice(0, known).map(({ date }) => cache.get(date) ?? new Map()), ...sums];
  for (const [index, { date, to }] of days.entries())
    if (to + cacheAfterMs < now) cache.set(date, byDay[index] ?? new Map());

  const stats = days.map(({ date }, index): DayStats => {
    return { date, ...toFigures(addSums(byDay[index]?.values() ?? [])) };
  });
  const today = byDay.at(-1) ?? new Map<string, Sums>();
  const { date: _, ...todayFigures } = stats.at(-1) as DayStats;
  const names = new Set(byDay.flatMap((day) => [...day.keys()]));
  const projects = [...names].map((project): ProjectStats => {
    const own = addSums(byDay.flatMap((day) => day.get(project) ?? []));
    return { project, todayMs: today.get(project)?.waitedMs ?? 0, ...toFigures(own) };
  });
  return {
    enabled: true,
    now,
    today: { ...todayFigures, longest, byRules: addSums(today.values()).byRules },
    days: stats,
    projects: projects
      .filter(({ waitedMs, asks, tokens }) => waitedMs + asks + tokens > 0)
      .sort((a, b) => b.waitedMs - a.waitedMs || b.tokens - a.tokens),
    ...computePortStats(db, days[0]?.from ?? now, now),
  };
}

interface PortRow {
  readonly project: string;
  readonly port_id: string;
  readonly title: string;
  readonly sessions: number;
  readonly tokens: number;
  readonly cost_micros: number;
  readonly has_unknown_cost: number;
  readonly worked_ms: number | null;
  readonly waited_ms: number | null;
  readonly last_at: number;
}

/** A run that began before the first day counts with all its tokens: they are not kept by day. */
function computePortStats(
  db: Database,
  since: number,
  now: number,
): { readonly ports?: readonly PortStats[] } {
  const isEmpty = db.query("SELECT 1 FROM port_runs LIMIT 1").get() === null;
  if (isEmpty) return {};
  const overlap = (state: string) =>
    `(SELECT sum(min(coalesce(s.to_at, ?2), coalesce(r.to_at, ?2)) - max(s.from_at, r.from_at, ?1)) FROM spans s
      WHERE s.key = r.key AND s.state = '${state}' AND s.from_at < coalesce(r.to_at, ?2)
      AND coalesce(s.to_at, ?2) > max(r.from_at, ?1))`;
  const rows = db
    .query<PortRow, Values>(
      `SELECT project, port_id, max(title) AS title, count(DISTINCT key) AS sessions, sum(tokens) AS tokens,
       sum(cost_micros) AS cost_micros, max(has_unknown_cost) AS has_unknown_cost, sum(${overlap("working")}) AS worked_ms,
       sum(${overlap("waiting")}) AS waited_ms, max(coalesce(to_at, ?2)) AS last_at
       FROM port_runs r WHERE coalesce(to_at, ?2) > ?1 GROUP BY project, port_id ORDER BY last_at DESC, port_id`,
    )
    .all(since, now);
  const ports = rows.map((row): PortStats => {
    const { project, port_id: port, title, sessions, tokens } = row;
    const cost = toCost(row.cost_micros, row.has_unknown_cost === 0);
    const workedMs = row.worked_ms ?? 0;
    const waitedMs = row.waited_ms ?? 0;
    return { project, port, title, workedMs, waitedMs, sessions, tokens, ...cost, lastAt: row.last_at };
  });
  return ports.length === 0 ? {} : { ports };
}

/** How an ask ended is known by then, and what a transcript adds. */
const cacheAfterMs = hourMs;

/** The last of the days is today. */
function sumDays(
  db: Database,
  days: readonly DayRange[],
  now: number,
): { readonly sums: DaySums[]; readonly longest: TodayStats["longest"] } {
  const first = days[0] as DayRange;
  const lastDay = days.length - 1;
  const byDay = days.map((): DaySums => new Map());
  let longest: TodayStats["longest"] = null;

  function find(index: number, project: string | null): Sums {
    const day = byDay[index] as DaySums;
    const known = day.get(project ?? "");
    if (known) return known;
    const sums = createSums();
    day.set(project ?? "", sums);
    return sums;
  }

  const projects = listProjects(db);
  for (const [key, from_at, to_at] of listWaits(db, first.from)) {
    const project = projects.get(key) ?? null;
    const end = Math.min(to_at ?? now, now);
    for (let index = findDay(days, from_at) ?? 0; index <= lastDay; index++) {
      const { from, to } = days[index] as DayRange;
      if (from >= end) break;
      const ms = Math.max(0, Math.min(end, to) - Math.max(from_at, from));
      find(index, project).waitedMs += ms;
      const isLongest = index === lastDay && ms > (longest?.ms ?? 0);
      if (isLongest) longest = { ms, from: Math.max(from_at, from), key, project, open: to_at === null };
    }
  }
  for (const [project, openedAt, closedAt, waitedMs, how] of listAsks(db, first.from)) {
    const openedOn = findDay(days, openedAt);
    if (openedOn !== null) {
      if (how === "rule") find(openedOn, project).byRules++;
      else find(openedOn, project).asks++;
    }
    const isAnswered = closedAt !== null && how !== "dismissed" && how !== "rule";
    const closedOn = isAnswered ? findDay(days, closedAt) : null;
    if (closedOn !== null) find(closedOn, project).answers.push(waitedMs ?? 0);
  }
  for (const row of listUsage(db, first.date)) {
    const index = days.findIndex(({ date }) => date === row.day);
    if (index < 0) continue;
    const sums = find(index, row.project);
    sums.tokens += row.tokens;
    sums.costMicros += row.cost_micros;
    sums.isPriced = (sums.isPriced ?? true) && row.has_unknown_cost === 0;
  }
  return { sums: byDay, longest };
}

function listProjects(db: Database): Map<string, string | null> {
  const rows = db.query<{ key: string; project: string | null }, []>("SELECT key, project FROM sessions");
  return new Map(rows.all().map(({ key, project }) => [key, project]));
}

// Arrays, not objects: there can be a hundred thousand rows.
type WaitValues = [key: string, from: number, to: number | null];
type AskValues = [
  project: string | null,
  openedAt: number,
  closedAt: number | null,
  waitedMs: number | null,
  how: string | null,
];

function listWaits(db: Database, since: number): WaitValues[] {
  return db
    .query<unknown, Values>(
      `SELECT key, from_at, to_at FROM spans WHERE to_at > ?1 AND state = 'waiting'
       UNION ALL SELECT key, from_at, to_at FROM spans WHERE to_at IS NULL AND state = 'waiting'`,
    )
    .values(since) as WaitValues[];
}

function listAsks(db: Database, since: number): AskValues[] {
  return db
    .query<unknown, Values>(
      `SELECT project, opened_at, closed_at, waited_ms, how FROM asks WHERE opened_at >= ?1
       UNION ALL SELECT project, opened_at, closed_at, waited_ms, how FROM asks WHERE opened_at < ?1 AND closed_at >= ?1`,
    )
    .values(since) as AskValues[];
}

function listUsage(db: Database, since: string): Iterable<UsageRow> {
  return db
    .query<UsageRow, Values>(
      "SELECT day, project, tokens, cost_micros, has_unknown_cost FROM usage WHERE day >= ?",
    )
    .iterate(since);
}

/** The index of the day; null if the time is on none of the days. */
function findDay(days: readonly DayRange[], at: number): number | null {
  let low = 0;
  let high = days.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const { from, to } = days[middle] as DayRange;
    if (at < from) high = middle - 1;
    else if (at >= to) low = middle + 1;
    else return middle;
  }
  return null;
}

function medianOf(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : Math.round(((sorted[middle - 1] ?? 0) + upper) / 2);
}
