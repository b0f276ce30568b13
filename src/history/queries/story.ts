/** Tells the history as a story: the sessions of each day with what happened in them, the newest first. */
import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { StoryDay, StoryKind, StoryPage, StoryQuery, StoryThread } from "../../core/interfaces/wire.ts";
import { kindOfTool, splitCall } from "../../core/view/moment-words.ts";
import { type Beat, type StoryMoment, tellStory, untoldKinds } from "../../core/view/story.ts";
import type { SessionTableRow } from "../schema.ts";
import { createFilterWords } from "../search-text.ts";
import { atOfSeq, parseSeq, toSeq } from "../seq.ts";
import { findByWords, type ItemRow, listMatches, maxCountedMatches, readItems, toItem } from "./items.ts";
import { overlapMs } from "./lanes.ts";

type Values = SQLQueryBindings[];

/** Without the group that each session is in now, which only the app knows. */
type Thread = Omit<StoryThread, "group">;
type Page = Omit<StoryPage, "threads"> & { readonly threads: readonly Thread[] };

type SessionRow = Pick<
  SessionTableRow,
  "key" | "provider" | "project" | "branch" | "title" | "model" | "started_at" | "last_at" | "ended_at"
>;

interface Day {
  readonly from: number;
  readonly to: number;
}

/** A session on a day, and the newest of its moments that the page is about. */
interface Candidate {
  readonly key: string;
  readonly last: number;
}

const defaultLimit = 12;
/** Sessions without a story are one line together, so a page can have many. */
const maxPageThreads = 300;
/** Of a day on which nothing was asked, so many sessions have their story told. */
const minTold = 3;
/** The newest moments of a session that are told. */
const maxMoments = 3_000;

/** Commands and edits are told apart by their texts, which have to be read: 10,000 take a quarter of a second. */
const maxWorkMatches = 2_000;

/** A day with a change of the clocks has 23 or 25 hours. */
function dayOf(at: number): Day {
  const date = new Date(at);
  const start = (days: number) =>
    new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime();
  return { from: start(0), to: start(1) };
}

export function findStory(db: Database, query: StoryQuery, now: number): Page {
  if (query.session !== undefined) return findThread(db, query.session, dayOf(query.day ?? now), now);
  const before = parseSeq(query.before);
  const newest = before === null ? (query.day ?? now) : atOfSeq(before);
  const search = listHits(db, query, toSeq(dayOf(newest).to));
  return { ...collect(db, query, before, search, dayOf(newest), now), ...readExtent(db) };
}

function readExtent(db: Database): Pick<StoryPage, "holds"> {
  const first =
    db.query<{ seq: number | null }, Values>("SELECT MIN(seq) AS seq FROM items").get()?.seq ?? null;
  if (first === null) return {};
  const providers = db.query<{ provider: string }, Values>("SELECT DISTINCT provider FROM sessions").all();
  return { holds: { firstAt: atOfSeq(first), agents: providers.map(({ provider }) => provider) } };
}

/** A session on a day, with nothing folded away. */
function findThread(db: Database, key: string, day: Day, now: number): Page {
  const session = readSession(db, key);
  const thread = session && tellThread(db, session, day, now, { isWhole: true });
  return { enabled: true, threads: thread ? [thread] : [], days: [], next: null };
}

/** Goes back day by day until the page is full. */
function collect(
  db: Database,
  query: StoryQuery,
  before: number | null,
  hits: Hits | null,
  newest: Day,
  now: number,
): Page {
  const { limit = defaultLimit } = query;
  const sessions = hits ? null : listSessions(db, query);
  const threads: Thread[] = [];
  const days: StoryDay[] = [];
  /** Of the days that are told whole. */
  const exactHits = new Map<number, number>();
  let told = 0;
  const page = (next: string | null): Page => ({
    enabled: true,
    threads,
    days: hits ? hits.listDays().map((day) => ({ ...day, hits: exactHits.get(day.day) ?? day.hits })) : days,
    next,
  });
  for (const day of hits ? hits.days() : listDays(sessions ?? [], newest)) {
    const all = hits ? hits.listCandidates(day) : listCandidates(db, sessions ?? [], day);
    if (all.length > 0) days.push({ day: day.from, sessions: all.length });
    const candidates = before === null ? all : all.filter(({ last }) => last < before);
    const notable = hits ? null : listNotable(db, day);
    let toldOfDay = all.length - candidates.length;
    for (const { key, last } of candidates) {
      if (told >= limit || threads.length >= maxPageThreads) return page(String(last + 1));
      const session = readSession(db, key);
      if (!session) continue;
      const isTold = !notable || notable.has(key) || (notable.size === 0 && toldOfDay < minTold);
      const options = isTold ? { hits: hits?.idsOf(key, day) } : null;
      const thread = tellThread(db, session, day, now, options);
      if (!thread) continue;
      threads.push(thread);
      if (isTold) told++;
      if (isTold) toldOfDay++;
    }
    const ofDay = threads.filter((thread) => thread.day === day.from);
    if (candidates.length === all.length)
      exactHits.set(
        day.from,
        ofDay.reduce((sum, thread) => sum + (thread.hits ?? 0), 0),
      );
  }
  return page(hits?.next() ?? null);
}

/** The days on which any of the sessions was there, the newest first. */
function* listDays(sessions: readonly SessionRow[], newest: Day): Generator<Day> {
  const first = sessions.reduce((earliest, { started_at }) => Math.min(earliest, started_at), newest.to);
  for (let day = newest; day.to > first; day = dayOf(day.from - 1)) yield day;
}

function listSessions(db: Database, { project, agent }: StoryQuery): readonly SessionRow[] {
  const conditions = ["parent_session_id IS NULL"];
  if (project !== undefined) conditions.push("project = $project");
  if (agent !== undefined) conditions.push("provider = $agent");
  const values = {
    ...(project === undefined ? {} : { $project: project }),
    ...(agent === undefined ? {} : { $agent: agent }),
  };
  return db
    .query<SessionRow, [typeof values]>(
      `SELECT ${sessionColumns} FROM sessions WHERE ${conditions.join(" AND ")}`,
    )
    .all(values);
}

const sessionColumns = "key, provider, project, branch, title, model, started_at, last_at, ended_at";

function readSession(db: Database, key: string): SessionRow | null {
  return db.query<SessionRow, Values>(`SELECT ${sessionColumns} FROM sessions WHERE key = ?`).get(key);
}

const keyWord = (key: string): string => createFilterWords({ key }).join(" ");

function listCandidates(db: Database, sessions: readonly SessionRow[], day: Day): readonly Candidate[] {
  const newest = db.query<{ rowid: number }, Values>(
    "SELECT rowid FROM items_fts WHERE items_fts MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC LIMIT 1",
  );
  const [from, to] = [toSeq(day.from), toSeq(day.to)];
  return sessions
    .filter(({ started_at, last_at }) => started_at < day.to && last_at >= day.from)
    .flatMap(({ key }) => {
      const last = newest.get(keyWord(key), from, to)?.rowid;
      return last === undefined ? [] : { key, last };
    })
    .sort((a, b) => b.last - a.last);
}

/** The sessions that asked for something on this day, or failed. */
function listNotable(db: Database, { from, to }: Day): ReadonlySet<string> {
  const asked = db
    .query<{ key: string }, Values>("SELECT DISTINCT key FROM asks WHERE opened_at >= ? AND opened_at < ?")
    .all(from, to);
  const failed = db
    .query<{ key: string }, Values>(
      `SELECT DISTINCT key FROM items WHERE seq IN
       (SELECT rowid FROM items_fts WHERE items_fts MATCH ? AND rowid >= ? AND rowid < ?)`,
    )
    .all(createFilterWords({ kind: "failed" }).join(" "), toSeq(from), toSeq(to));
  return new Set([...asked, ...failed].map(({ key }) => key));
}

/** What a search found. */
interface Hits {
  /** The newest first. */
  days(): Iterable<Day>;
  listDays(): readonly (StoryDay & { readonly hits: number })[];
  listCandidates(day: Day): readonly Candidate[];
  /** Of items. */
  idsOf(key: string, day: Day): ReadonlySet<string>;
  /** Where to go on: there are more matches than were read. */
  next(): string | null;
}

const kindWords: Readonly<Record<StoryKind, readonly string[]>> = {
  prompts: ["prompt"],
  commands: ["tool"],
  edits: ["tool"],
  asks: ["permission", "question", "plan", "elicitation"],
  failures: ["failed"],
};

const workOfKind: Readonly<Partial<Record<StoryKind, string>>> = { commands: "command", edits: "edit" };

const anyKind = (kinds: readonly string[]): string =>
  `(${kinds.flatMap((kind) => createFilterWords({ kind })).join(" OR ")})`;

/** null if nothing is searched. */
function listHits(db: Database, { q, kind, project, agent }: StoryQuery, before: number): Hits | null {
  if (q === undefined && kind === undefined) return null;
  const filters = createFilterWords({ project, provider: agent });
  if (kind !== undefined) filters.push(anyKind(kindWords[kind]));
  const max = kind !== undefined && kind in workOfKind ? maxWorkMatches : maxCountedMatches;
  const list = (terms: readonly string[]): number[] => {
    const told = kind === undefined ? ` NOT ${anyKind(untoldKinds)}` : "";
    return listMatches(db, [...terms, ...filters].join(" AND ") + told, before, max);
  };
  const seqs =
    q === undefined
      ? list([])
      : findByWords<number[]>(q, [], (terms) => {
          const found = list(terms);
          return { found, count: found.length };
        });
  return createHits(db, seqs, kind, seqs.length === max);
}

function createHits(
  db: Database,
  found: readonly number[],
  kind: StoryKind | undefined,
  hasMore: boolean,
): Hits {
  const work = kind === undefined ? undefined : workOfKind[kind];
  const isWork = ({ text }: ItemRow) => kindOfTool(splitCall(text).tool) === work;
  const seqs =
    work === undefined
      ? found
      : readItems(db, found)
          .filter(isWork)
          .map(({ seq }) => seq);
  const byDay = new Map<number, { readonly day: Day; readonly seqs: number[] }>();
  let current: { readonly day: Day; readonly seqs: number[] } | null = null;
  for (const seq of seqs) {
    const at = atOfSeq(seq);
    if (!current || at < current.day.from) {
      current = { day: dayOf(at), seqs: [] };
      byDay.set(current.day.from, current);
    }
    current.seqs.push(seq);
  }
  const rowsOf = ({ from }: Day): readonly ItemRow[] => {
    const known = rows.get(from) ?? readItems(db, byDay.get(from)?.seqs ?? []);
    rows.set(from, known);
    return known;
  };
  const rows = new Map<number, readonly ItemRow[]>();
  const oldest = found.at(-1);
  return {
    *days() {
      for (const { day } of byDay.values()) yield day;
    },
    listDays: () =>
      [...byDay.values()].map(({ day, seqs: ofDay }) => ({ day: day.from, sessions: 0, hits: ofDay.length })),
    listCandidates: (day) => {
      const last = new Map<string, number>();
      for (const { key, seq } of rowsOf(day)) if (!last.has(key)) last.set(key, seq);
      return [...last].map(([key, seq]) => ({ key, last: seq }));
    },
    idsOf: (key, day) => new Set(rowsOf(day).flatMap((row) => (row.key === key ? row.id : []))),
    next: () => (hasMore && oldest !== undefined ? String(toSeq(dayOf(atOfSeq(oldest)).from)) : null),
  };
}

/** null if it has nothing to tell. Without `options`, its story is left out. */
function tellThread(
  db: Database,
  session: SessionRow,
  day: Day,
  now: number,
  options: { readonly hits?: ReadonlySet<string> | undefined; readonly isWhole?: true } | null,
): Thread | null {
  const { key, provider, project, branch, title, model, ended_at } = session;
  const rows = options ? readDay(db, key, day) : [];
  const moments = rows.map((row) => toMoment(row, now));
  const { hits, isWhole = false } = options ?? {};
  const beats = options && tellStory(moments, { ...(hits ? { hits } : {}), isWhole });
  if (beats?.length === 0) return null;
  const from = moments[0]?.at ?? Math.max(day.from, session.started_at);
  const to = moments.at(-1)?.at ?? Math.min(day.to - 1, session.last_at);
  return {
    key,
    provider,
    project,
    branch,
    title,
    model,
    day: day.from,
    from,
    to,
    endedAt: ended_at !== null && ended_at < day.to ? ended_at : null,
    asks: moments.filter(({ waitedMs, how }) => waitedMs !== null && how !== "rule").length,
    waitedMs: options ? sumWaits(db, key, day, now) : 0,
    ...(hits && beats ? { hits: countHits(beats) } : {}),
    beats,
  };
}

/** An ask and its command are two items and one hit. */
const countHits = (beats: readonly Beat[]): number =>
  beats.reduce((sum, beat) => sum + (beat.kind === "work" ? (beat.hits ?? 0) : 1), 0);

/** The oldest first. */
function readDay(db: Database, key: string, day: Day): readonly ItemRow[] {
  const seqs = listMatches(db, keyWord(key), toSeq(day.to), maxMoments, toSeq(day.from));
  return readItems(db, seqs).reverse();
}

function toMoment(row: ItemRow, now: number): StoryMoment {
  const { id, at, kind, text, how, where, detail = null, waitedMs, severity } = toItem(row, now);
  return { id, at, kind, text, how, where, detail, waitedMs, isFailure: severity === "warn" };
}

function sumWaits(db: Database, key: string, { from, to }: Day, now: number): number {
  return db
    .query<{ from_at: number; to_at: number | null }, Values>(
      "SELECT from_at, to_at FROM spans WHERE key = ? AND state = 'waiting' AND from_at < ?",
    )
    .all(key, to)
    .reduce((sum, span) => sum + overlapMs(span, from, Math.min(to, now), now), 0);
}
