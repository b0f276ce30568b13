/** Reads the history: items, statistics, lanes, the export, and missed events of the stream. */
import type { Database, SQLQueryBindings } from "bun:sqlite";
import { limits } from "../core/limits.ts";
import type { NormalizedEvent } from "../core/normalized-event.ts";
import type {
  DayStats,
  HistoryItem,
  HistoryPage,
  HistoryQuery,
  Lane,
  Lanes,
  ProjectStats,
  Span,
  Stats,
  StreamEvent,
  TodayStats,
} from "../core/wire.ts";
import { formatLocalDate, seqsPerMs } from "./recorder.ts";

type Values = SQLQueryBindings[];

interface ItemRow {
  readonly seq: number;
  readonly id: string;
  readonly key: string;
  readonly provider: string;
  readonly project: string | null;
  readonly branch: string | null;
  readonly kind: HistoryItem["kind"];
  readonly text: string;
  readonly how: HistoryItem["how"];
  readonly place: string | null;
  readonly waited_ms: number | null;
  readonly severity: HistoryItem["severity"];
}

const askKinds: ReadonlySet<string> = new Set(["permission", "question", "plan", "elicitation"]);
const maxWords = 16;

export function findItems(db: Database, query: HistoryQuery, now: number): HistoryPage {
  const { conditions, values, isSearch } = createFilter(query);
  const limit = query.limit ?? 50;
  const from = isSearch ? "items_fts JOIN items ON items.seq = items_fts.rowid" : "items";
  const order = isSearch ? "items_fts.rowid" : "items.seq";
  const all = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
  const before = readCursor(query.before);
  const page = [...conditions, ...(before === null ? [] : [`${order} < ?`])];
  const rows = db
    .query<ItemRow, Values>(
      `SELECT items.* FROM ${from} ${page.length > 0 ? `WHERE ${page.join(" AND ")}` : ""} ORDER BY ${order} DESC LIMIT ?`,
    )
    .all(...values, ...(before === null ? [] : [before]), limit + 1);
  // The search alone is counted without reading the items.
  const counted = isSearch && conditions.length === 1 ? "items_fts" : from;
  const count = db.query<{ n: number }, Values>(`SELECT count(*) AS n FROM ${counted} ${all}`).get(...values);
  const items = rows.slice(0, limit);
  return {
    enabled: true,
    total: count?.n ?? 0,
    next: rows.length > limit ? String(items.at(-1)?.seq) : null,
    items: items.map((row) => toItem(row, now)),
  };
}

function createFilter({ q, project, agent, kind, session }: HistoryQuery) {
  const conditions: string[] = [];
  const values: Values = [];
  const add = (condition: string, ...bound: Values) => {
    conditions.push(condition);
    values.push(...bound);
  };
  const search = q === undefined ? null : createSearch(q);
  // A text without any word matches nothing.
  if (search !== null) add(search === "" ? "0" : "items_fts MATCH ?", ...(search === "" ? [] : [search]));
  if (project !== undefined) add("project = ?", project);
  if (agent !== undefined) add("provider = ?", agent);
  if (kind !== undefined) add("kind = ?", kind);
  if (session !== undefined)
    add(
      session.includes(":") ? "key = ?" : "key IN (SELECT key FROM sessions WHERE session_id = ?)",
      session,
    );
  return { conditions, values, isSearch: search !== null && search !== "" };
}

/** Every word must occur, as a whole or as the start of one. Quotes keep FTS5 from reading operators. */
function createSearch(text: string): string {
  const words = text.split(/[^\p{L}\p{N}_]+/u).filter(Boolean);
  return words
    .slice(0, maxWords)
    .map((word) => `"${word}"*`)
    .join(" ");
}

function readCursor(before: string | undefined): number | null {
  return before !== undefined && /^\d{1,16}$/.test(before) ? Number(before) : null;
}

function toItem(row: ItemRow, now: number): HistoryItem {
  const at = Math.floor(row.seq / seqsPerMs);
  const isOpen = askKinds.has(row.kind) && row.waited_ms === null;
  return {
    id: row.id,
    at,
    key: row.key,
    provider: row.provider,
    project: row.project,
    branch: row.branch,
    kind: row.kind,
    text: row.text,
    how: row.how,
    where: row.place,
    waitedMs: isOpen ? Math.max(0, now - at) : row.waited_ms,
    severity: row.severity,
  };
}

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

interface WaitRow {
  readonly key: string;
  readonly project: string | null;
  readonly from_at: number;
  readonly to_at: number | null;
}

interface AskRow {
  readonly project: string | null;
  readonly opened_at: number;
  readonly closed_at: number | null;
  readonly waited_ms: number | null;
  readonly how: string | null;
}

interface UsageRow {
  readonly day: string;
  readonly project: string | null;
  readonly tokens: number;
  readonly cost_micros: number;
  readonly has_unknown_cost: number;
}

const noProject = "";

export function computeStats(db: Database, dayCount: number, now: number): Stats {
  const days = listDays(dayCount, now);
  const today = days.at(-1) as DayRange;
  const first = days[0] as DayRange;
  const waits = db
    .query<WaitRow, Values>(
      `SELECT spans.key, sessions.project, from_at, to_at FROM spans LEFT JOIN sessions ON sessions.key = spans.key
       WHERE state = 'waiting' AND (to_at > ? OR to_at IS NULL)`,
    )
    .all(first.from);
  const asks = db
    .query<AskRow, Values>(
      "SELECT project, opened_at, closed_at, waited_ms, how FROM asks WHERE opened_at >= ? OR closed_at >= ?",
    )
    .all(first.from, first.from);
  const usage = db
    .query<UsageRow, Values>(
      "SELECT day, project, tokens, cost_micros, has_unknown_cost FROM usage WHERE day >= ?",
    )
    .all(first.date);

  const waitedIn = (rows: readonly WaitRow[], { from, to }: Pick<DayRange, "from" | "to">) =>
    rows.reduce((sum, row) => sum + overlapMs(row, from, Math.min(to, now), now), 0);
  const figures = (
    range: Pick<DayRange, "from" | "to">,
    own: {
      readonly waits: readonly WaitRow[];
      readonly asks: readonly AskRow[];
      readonly usage: readonly UsageRow[];
    },
  ) => ({
    waitedMs: waitedIn(own.waits, range),
    asks: own.asks.filter((ask) => ask.how !== "rule" && isIn(ask.opened_at, range)).length,
    medianMs: medianOf(
      own.asks.flatMap((ask) => (isAnswered(ask) && isIn(ask.closed_at, range) ? [ask.waited_ms ?? 0] : [])),
    ),
    tokens: own.usage.reduce((sum, row) => sum + row.tokens, 0),
    costUsd: sumCost(own.usage),
  });

  const byDay: DayStats[] = days.map((day) => ({
    date: day.date,
    ...figures(day, { waits, asks, usage: usage.filter((row) => row.day === day.date) }),
  }));
  return {
    enabled: true,
    now,
    today: {
      ...(byDay.at(-1) as DayStats),
      longest: findLongest(waits, today, now),
      byRules: asks.filter((ask) => ask.how === "rule" && isIn(ask.opened_at, today)).length,
    } satisfies TodayStats & { date: string },
    days: byDay,
    projects: computeProjects(),
  };

  function computeProjects(): ProjectStats[] {
    const names = new Set([...waits, ...asks, ...usage].map(({ project }) => project ?? noProject));
    const of = <Row extends { readonly project: string | null }>(rows: readonly Row[], name: string) =>
      rows.filter(({ project }) => (project ?? noProject) === name);
    const whole = { from: first.from, to: today.to };
    const projects = [...names].map((name): ProjectStats => {
      const own = { waits: of(waits, name), asks: of(asks, name), usage: of(usage, name) };
      return { project: name, todayMs: waitedIn(own.waits, today), ...figures(whole, own) };
    });
    const isUsed = ({ waitedMs, asks: count, tokens }: ProjectStats) => waitedMs + count + tokens > 0;
    return projects.filter(isUsed).sort((a, b) => b.waitedMs - a.waitedMs || b.tokens - a.tokens);
  }
}

/** Answers of the user: rules do not count, nor what ended without an answer. */
function isAnswered({ how, closed_at }: AskRow): boolean {
  return closed_at !== null && how !== "rule" && how !== "dismissed";
}

function isIn(at: number | null, { from, to }: Pick<DayRange, "from" | "to">): boolean {
  return at !== null && at >= from && at < to;
}

function overlapMs(
  { from_at, to_at }: Pick<WaitRow, "from_at" | "to_at">,
  from: number,
  to: number,
  now: number,
): number {
  return Math.max(0, Math.min(to_at ?? now, to) - Math.max(from_at, from));
}

function medianOf(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : Math.round(((sorted[middle - 1] ?? 0) + upper) / 2);
}

/** null if the price of any of it is unknown, or if nothing was used. */
function sumCost(usage: readonly UsageRow[]): number | null {
  if (usage.length === 0 || usage.some((row) => row.has_unknown_cost)) return null;
  return usage.reduce((sum, row) => sum + row.cost_micros, 0) / 1_000_000;
}

function findLongest(waits: readonly WaitRow[], today: DayRange, now: number): TodayStats["longest"] {
  let longest: TodayStats["longest"] = null;
  for (const wait of waits) {
    const { key, project, to_at } = wait;
    const ms = overlapMs(wait, today.from, today.to, now);
    if (ms > (longest?.ms ?? 0)) longest = { ms, key, project, open: to_at === null };
  }
  return longest;
}

interface SpanRow {
  readonly key: string;
  readonly from_at: number;
  readonly to_at: number | null;
  readonly state: Span["state"];
  readonly project: string | null;
  readonly branch: string | null;
  readonly title: string | null;
}

/** Without the group that each session is in now, which only the app knows. */
export function computeLanes(
  db: Database,
  from: number,
  to: number,
  now: number,
): Omit<Lanes, "lanes"> & { readonly lanes: readonly Omit<Lane, "group">[] } {
  const select = `SELECT spans.key, from_at, to_at, state, project, branch, title FROM spans
    LEFT JOIN sessions ON sessions.key = spans.key`;
  const rows = db
    .query<SpanRow, Values>(
      `${select} WHERE to_at > ?1 AND from_at < ?2 UNION ALL ${select} WHERE to_at IS NULL AND from_at < ?2`,
    )
    .all(from, to);
  const byKey = Map.groupBy(rows, ({ key }) => key);
  const lanes = [...byKey.values()].map((own): Omit<Lane, "group"> => {
    const { key, project, branch, title } = own[0] as SpanRow;
    const spans = own
      .map((row): Span => ({ state: row.state, from: row.from_at, to: row.to_at }))
      .sort((a, b) => a.from - b.from);
    const waits = own.filter(({ state }) => state === "waiting");
    const waitedMs = waits.reduce((sum, row) => sum + overlapMs(row, from, Math.min(to, now), now), 0);
    return { key, project, branch, title, waitedMs, spans };
  });
  lanes.sort((a, b) => (a.spans[0]?.from ?? 0) - (b.spans[0]?.from ?? 0));
  const waiting = rows.filter(({ state }) => state === "waiting");
  return { enabled: true, from, to, lanes, anyWaiting: mergeSpans(waiting) };
}

/** Overlapping spans become one. */
function mergeSpans(rows: readonly SpanRow[]): Lanes["anyWaiting"] {
  const merged: { from: number; to: number | null }[] = [];
  for (const { from_at, to_at } of rows.toSorted((a, b) => a.from_at - b.from_at)) {
    const last = merged.at(-1);
    if (last && (last.to === null || from_at <= last.to)) {
      if (last.to !== null) last.to = to_at === null ? null : Math.max(last.to, to_at);
    } else merged.push({ from: from_at, to: to_at });
  }
  return merged;
}

const maxMissedEvents = 10_000;

export function findMissedEvents(db: Database, afterId: string): StreamEvent[] {
  const after = readCursor(afterId);
  if (after === null) return [];
  return db
    .query<{ seq: number; event: string; data: string }, Values>(
      "SELECT seq, event, data FROM changes WHERE seq > ? ORDER BY seq LIMIT ?",
    )
    .all(after, maxMissedEvents)
    .map(({ seq, event, data }) => ({ id: String(seq), event, data: JSON.parse(data) }) as StreamEvent);
}

interface EventTableRow {
  readonly seq: number;
  readonly ts: number;
  readonly payload: string;
  readonly raw: string | null;
  readonly [column: string]: string | number | null;
}

/** Ordered by time, then id. */
export function* exportEvents(db: Database): Generator<NormalizedEvent> {
  const page = db.query<EventTableRow, Values>(
    "SELECT * FROM normalized_events WHERE seq > ? ORDER BY seq LIMIT ?",
  );
  let after = -1;
  let moment: NormalizedEvent[] = [];
  for (;;) {
    const rows = page.all(after, limits.maxHistoryPage);
    for (const row of rows) {
      const event = toNormalizedEvent(row);
      if (moment.length > 0 && moment[0]?.ts !== event.ts) {
        yield* sortById(moment);
        moment = [];
      }
      moment.push(event);
      after = row.seq;
    }
    if (rows.length === 0) break;
  }
  yield* sortById(moment);
}

function sortById(events: readonly NormalizedEvent[]): NormalizedEvent[] {
  return events.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function toNormalizedEvent(row: EventTableRow): NormalizedEvent {
  const { seq, ts, payload, raw, ...columns } = row;
  return {
    ...columns,
    version: "1.1",
    ts: new Date(ts).toISOString(),
    payload: JSON.parse(payload),
    raw: raw === null ? null : JSON.parse(raw),
  } as unknown as NormalizedEvent;
}
