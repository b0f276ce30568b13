/** Finds items: the newest, the matches of a search or a filter, and the sessions that a name could mean. */
import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { HistoryItem, HistoryPage, HistoryQuery, HistorySession } from "../../core/interfaces/wire.ts";
import { parseSessionKey } from "../../core/session/session-ref.ts";
import { isAskKind } from "../../core/view/story.ts";
import { createFilterWords } from "../search-text.ts";
import { atOfSeq, parseSeq } from "../seq.ts";

type Values = SQLQueryBindings[];

export interface ItemRow {
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
  readonly detail: string | null;
}

const maxWords = 16;

/** Matches of a search are not counted further. */
export const maxCountedMatches = 10_000;

export function findItems(db: Database, query: HistoryQuery, now: number): HistoryPage {
  const { limit = 50, session } = query;
  const before = parseSeq(query.before);
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
  return findByWords(q, { rows: [], total: 0 }, (terms) => {
    const found = searchItems(db, [...terms, ...filters].join(" "), before, limit);
    return { found, count: found.total };
  });
}

/** Finds the words of a text; if they are rare, the words that begin like them too. */
export function findByWords<T>(
  text: string,
  nothing: T,
  find: (terms: readonly string[]) => { readonly found: T; readonly count: number },
): T {
  const words = text
    .split(/[^\p{L}\p{N}_]+/u)
    .filter(Boolean)
    .slice(0, maxWords);
  // A text without any word matches nothing.
  if (words.length === 0) return nothing;
  // Quotes keep FTS5 from reading operators.
  const whole = find(words.map((word) => `"${word}"`));
  // Beginnings of words cost more, the more words there are. If whole words match this often, nobody misses them.
  if (whole.count >= enoughMatches) return whole.found;
  return find(words.map((word) => `"${word}"${word.length >= minPrefixLength ? "*" : ""}`)).found;
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
export function listMatches(
  db: Database,
  search: string,
  before: number | null,
  limit: number,
  since = 0,
): number[] {
  return db
    .query<unknown, Values>(
      "SELECT rowid FROM items_fts WHERE items_fts MATCH ? AND rowid < ? AND rowid >= ? ORDER BY rowid DESC LIMIT ?",
    )
    .values(search, before ?? Number.MAX_SAFE_INTEGER, since, limit)
    .map(([seq]) => seq as number);
}

export function readItems(db: Database, seqs: readonly number[]): ItemRow[] {
  const read = db.query<ItemRow, Values>("SELECT * FROM items WHERE seq = ?");
  return seqs.map((seq) => read.get(seq)).filter((row) => row !== null);
}

export function findTranscript(db: Database, key: string): { readonly path: string | null } {
  const row = db.query<{ transcript: string | null }, Values>(
    "SELECT transcript FROM sessions WHERE key = ?",
  );
  return { path: row.get(key)?.transcript ?? null };
}

interface SessionMatch {
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
function findSessions(db: Database, name: string): readonly SessionMatch[] {
  const select = (condition: string): SessionMatch[] =>
    db
      .query<SessionMatch, Values>(
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
  const startsWithName = (column: string): string => `substr(lower(${column}), 1, length(?1)) = lower(?1)`;
  const ofKey = parseSessionKey(name) === null ? "" : `OR ${startsWithName("key")}`;
  const byPrefix = select(`parent_session_id IS NULL AND (${startsWithName("session_id")} ${ofKey})`);
  const inProject = select("parent_session_id IS NULL AND project = ?1");
  const live = inProject.filter(({ ended_at }) => ended_at === null);
  const byProject = live.length > 0 ? live : inProject;
  const isPrefix = new Set(byPrefix.map(({ key }) => key));
  return [...byPrefix, ...byProject.filter(({ key }) => !isPrefix.has(key))];
}

function toHistorySession({ provider, session_id, project, branch, title }: SessionMatch): HistorySession {
  return { provider, sessionId: session_id, project, gitBranch: branch, title };
}

export function toItem(row: ItemRow, now: number): HistoryItem {
  const at = atOfSeq(row.seq);
  const isOpen = isAskKind(row.kind) && row.waited_ms === null;
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
    ...(row.detail == null ? {} : { detail: row.detail }),
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
