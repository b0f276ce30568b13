/** Reads the history: items, statistics, lanes, the export, and missed events of the stream. */
import type { Database, SQLQueryBindings } from "bun:sqlite";
import { limits } from "../core/limits.ts";
import type { NormalizedEvent } from "../core/normalized-event.ts";
import { hourMs } from "../core/timing.ts";
import type {
  DayStats,
  HistoryItem,
  HistoryPage,
  HistoryQuery,
  HistorySession,
  Lane,
  Lanes,
  PortStats,
  ProjectStats,
  Span,
  Stats,
  StreamEvent,
  TodayStats,
} from "../core/wire.ts";
import { createFilterWords, formatLocalDate, seqsPerMs } from "./recorder.ts";

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

/** Matches of a search are not counted further. */
const maxCountedMatches = 10_000;

export function findItems(db: Database, query: HistoryQuery, now: number): HistoryPage {
  const { limit = 50, session } = query;
  const before = readCursor(query.before);
  const matches = session === undefined ? [] : findSessions(db, session);
  if (matches.length > 1)
    return { enabled: true, total: 0, next: null, items: [], candidates: matches.map(toHistorySession) };
  const filter = { ...query, session: matches[0]?.key ?? session };
  const { rows, total } = selectItems(db, filter, before, limit);
  const items = rows.slice(0, limit);
  const isUnknown = session !== undefined && matches.length === 0 && total === 0;
  return {
    ...(isUnknown ? { candidates: [] } : {}),
    enabled: true,
    total,
    next: rows.length > limit ? String(items.at(-1)?.seq) : null,
    items: addPorts(
      db,
      items.map((row) => toItem(row, now)),
    ),
  };
}

/** `session` is a key. */
type ItemFilter = Omit<HistoryQuery, "session"> & { readonly session: string | undefined };

interface FoundRows {
  /** One more than asked for, if there are more. */
  readonly rows: readonly ItemRow[];
  readonly total: number;
}

/** Project, agent, kind and session are words of the search index: the tables need no index for them. */
function selectItems(
  db: Database,
  { q, project, agent, kind, session }: ItemFilter,
  before: number | null,
  limit: number,
): FoundRows {
  const filters = createFilterWords({ project, provider: agent, kind, key: session });
  if (q === undefined)
    return filters.length === 0
      ? listNewest(db, before, limit)
      : listFiltered(db, filters.join(" "), before, limit);
  const words = q.split(/[^\p{L}\p{N}_]+/u).filter(Boolean);
  // A text without any word matches nothing.
  if (words.length === 0) return { rows: [], total: 0 };
  const find = (isPrefix: (word: string) => boolean): FoundRows => {
    // Quotes keep FTS5 from reading operators.
    const terms = words.slice(0, maxWords).map((word) => `"${word}"${isPrefix(word) ? "*" : ""}`);
    return searchItems(db, [...terms, ...filters].join(" "), before, limit);
  };
  const whole = find(() => false);
  // Beginnings of words cost more, the more words there are. If whole words match this often, nobody misses them.
  if (whole.total >= enoughMatches) return whole;
  return find((word) => word.length >= minPrefixLength);
}

const minPrefixLength = 3;
const enoughMatches = 1_000;

function listNewest(db: Database, before: number | null, limit: number): FoundRows {
  const rows = db
    .query<ItemRow, Values>("SELECT * FROM items WHERE seq < ? ORDER BY seq DESC LIMIT ?")
    .all(before ?? Number.MAX_SAFE_INTEGER, limit + 1);
  // A row for every item, and a small one.
  const count = db.query<{ n: number }, []>("SELECT count(*) AS n FROM items_fts_docsize").get();
  return { rows, total: count?.n ?? 0 };
}

/** Each filter is one list of the search index, so all matches can be counted. */
function listFiltered(db: Database, search: string, before: number | null, limit: number): FoundRows {
  const rows = readItems(db, listMatches(db, search, before, limit + 1));
  const count = db.query<{ n: number }, Values>(
    "SELECT count(*) AS n FROM items_fts WHERE items_fts MATCH ?",
  );
  return { rows, total: count.get(search)?.n ?? 0 };
}

/** Lists and counts in one pass: with the beginning of a word, nearly all of the time goes into finding the words. */
function searchItems(db: Database, search: string, before: number | null, limit: number): FoundRows {
  const seqs = listMatches(db, search, null, maxCountedMatches);
  const page = seqs.filter((seq) => before === null || seq < before).slice(0, limit + 1);
  // A page that reaches beyond what was counted.
  const isCut = page.length <= limit && seqs.length === maxCountedMatches;
  const rows = readItems(db, isCut ? listMatches(db, search, before, limit + 1) : page);
  return { rows, total: seqs.length };
}

/** The newest first. */
function listMatches(db: Database, search: string, before: number | null, limit: number): number[] {
  return db
    .query<unknown, Values>(
      "SELECT rowid FROM items_fts WHERE items_fts MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?",
    )
    .values(search, before ?? Number.MAX_SAFE_INTEGER, limit)
    .map(([seq]) => seq as number);
}

function readItems(db: Database, seqs: readonly number[]): ItemRow[] {
  const read = db.query<ItemRow, Values>("SELECT * FROM items WHERE seq = ?");
  return seqs.map((seq) => read.get(seq)).filter((row) => row !== null);
}

interface SessionRow {
  readonly key: string;
  readonly provider: string;
  readonly session_id: string;
  readonly project: string | null;
  readonly branch: string | null;
  readonly title: string | null;
  readonly ended_at: number | null;
}

const maxMatches = 100;

/** The sessions that `name` could mean, by the rules of the store's `findMatches`: an id, a prefix of one, a key or a project. */
function findSessions(db: Database, name: string): readonly SessionRow[] {
  const select = (condition: string): SessionRow[] =>
    db
      .query<SessionRow, Values>(
        `SELECT key, provider, session_id, project, branch, title, ended_at FROM sessions
         WHERE ${condition} ORDER BY last_at DESC LIMIT ${maxMatches}`,
      )
      .all(name);
  const byKey = select("key = ?1");
  if (byKey.length > 0) return byKey;
  const byId = select("session_id = ?1");
  if (byId.length > 0) return byId;
  const inAnyCase = select("lower(session_id) = lower(?1) OR lower(key) = lower(?1)");
  if (inAnyCase.length > 0) return inAnyCase;
  const byPrefix = select(
    `parent_session_id IS NULL AND (substr(lower(session_id), 1, length(?1)) = lower(?1)
     OR (instr(?1, ':') > 0 AND substr(lower(key), 1, length(?1)) = lower(?1)))`,
  );
  const inProject = select("parent_session_id IS NULL AND project = ?1");
  const live = inProject.filter(({ ended_at }) => ended_at === null);
  const byProject = live.length > 0 ? live : inProject;
  const isPrefix = new Set(byPrefix.map(({ key }) => key));
  return [...byPrefix, ...byProject.filter(({ key }) => !isPrefix.has(key))];
}

function toHistorySession({ provider, session_id, project, branch, title }: SessionRow): HistorySession {
  return { provider, sessionId: session_id, project, gitBranch: branch, title };
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

/** Adds the port that the session of each item worked on at that time. */
function addPorts(db: Database, items: readonly HistoryItem[]): readonly HistoryItem[] {
  const keys = [...new Set(items.map(({ key }) => key))];
  const isUnused = db.query("SELECT 1 FROM port_runs LIMIT 1").get() === null;
  if (isUnused || keys.length === 0) return items;
  const runs = db
    .query<{ key: string; from_at: number; to_at: number | null; port_id: string }, Values>(
      `SELECT key, from_at, to_at, port_id FROM port_runs WHERE key IN (${keys.map(() => "?").join(", ")})`,
    )
    .all(...keys);
  return items.map((item) => {
    const isThen = (run: (typeof runs)[number]) =>
      run.key === item.key && run.from_at <= item.at && item.at <= (run.to_at ?? item.at);
    const run = runs.find(isThen);
    return run ? { ...item, port: run.port_id } : item;
  });
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
  const costUsd = isPriced ? costMicros / 1_000_000 : null;
  return { waitedMs, asks, medianMs: medianOf(answers), tokens, costUsd };
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
    const costUsd = row.has_unknown_cost === 0 ? row.cost_micros / 1_000_000 : null;
    const workedMs = row.worked_ms ?? 0;
    const waitedMs = row.waited_ms ?? 0;
    return { project, port, title, workedMs, waitedMs, sessions, tokens, costUsd, lastAt: row.last_at };
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
      if (isLongest) longest = { ms, key, project, open: to_at === null };
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

/** The index of the day; null if it is none of them. */
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

function overlapMs(
  { from_at, to_at }: Pick<SpanRow, "from_at" | "to_at">,
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

interface SpanRow {
  readonly key: string;
  readonly from_at: number;
  readonly to_at: number | null;
  readonly state: Span["state"];
  readonly project: string | null;
  readonly branch: string | null;
  readonly title: string | null;
  readonly fingerprint: string | null;
}

/** Without the group that each session is in now, which only the app knows. */
export function computeLanes(
  db: Database,
  from: number,
  to: number,
  now: number,
): Omit<Lanes, "lanes"> & { readonly lanes: readonly Omit<Lane, "group">[] } {
  const select = `SELECT spans.key, from_at, to_at, state, project, branch, title, fingerprint FROM spans
    LEFT JOIN sessions ON sessions.key = spans.key`;
  const rows = db
    .query<SpanRow, Values>(
      `${select} WHERE to_at > ?1 AND from_at < ?2 UNION ALL ${select} WHERE to_at IS NULL AND from_at < ?2`,
    )
    .all(from, to);
  const byKey = Map.groupBy(rows, ({ key }) => key);
  const lanes = [...byKey.values()].map((own): Omit<Lane, "group"> => {
    const { key, project, branch, title, fingerprint } = own[0] as SpanRow;
    const spans = own
      .map((row): Span => ({ state: row.state, from: row.from_at, to: row.to_at }))
      .sort((a, b) => a.from - b.from);
    const waits = own.filter(({ state }) => state === "waiting");
    const waitedMs = waits.reduce((sum, row) => sum + overlapMs(row, from, Math.min(to, now), now), 0);
    return { key, project, branch, title, fingerprint, waitedMs, spans };
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
