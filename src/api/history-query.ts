/** Reads the queries of GET /api/history, /api/story, /api/stats, /api/lanes and /api/moment. Each returns a text that says what is wrong, or the query. */
import {
  type HistoryKind,
  type HistoryQuery,
  historyKinds,
  type StoryQuery,
  storyKinds,
} from "../core/interfaces/wire.ts";
import { limits } from "../core/limits.ts";
import { dayMs } from "../core/timing.ts";

type Query = Readonly<Record<string, unknown>>;

const defaultDays = 14;
const maxDays = 366;
const maxRangeMs = 31 * dayMs;
/** Of one page of the story. */
const maxThreads = 50;
/** Of a transcript. */
const maxLines = 5_000;
/** The last time that a Date can have. */
const maxTime = 8_640_000_000_000_000;

export function parseHistoryQuery(query: Query): HistoryQuery | string {
  const { kind } = query;
  if (kind !== undefined && !isKind(kind)) return `kind must be one of ${historyKinds.join(", ")}`;
  const limit = readNumber(query.limit, 50, 1, limits.maxHistoryPage);
  if (limit === null) return `limit must be a number from 1 to ${limits.maxHistoryPage}`;
  const texts = readTexts(query, ["q", "project", "agent", "session", "before"]);
  return typeof texts === "string" ? texts : { limit, ...(kind === undefined ? {} : { kind }), ...texts };
}

export function parseStoryQuery(query: Query): StoryQuery | string {
  const kind = storyKinds.find((name) => name === query.kind);
  if (!kind && query.kind !== undefined && query.kind !== "")
    return `kind must be one of ${storyKinds.join(", ")}`;
  const limit = readNumber(query.limit, 12, 1, maxThreads);
  if (limit === null) return `limit must be a number from 1 to ${maxThreads}`;
  const day = readNumber(query.day, Number.NaN, 0, maxTime);
  if (day === null) return "day must be milliseconds since 1970";
  const texts = readTexts(query, ["q", "project", "agent", "session", "before"]);
  if (typeof texts === "string") return texts;
  return { limit, ...(kind ? { kind } : {}), ...(Number.isNaN(day) ? {} : { day }), ...texts };
}

export function parseTranscriptQuery(
  query: Query,
): { readonly session: string; readonly at: number; readonly lines: number } | string {
  const texts = readTexts(query, ["session"]);
  if (typeof texts === "string") return texts;
  const { session } = texts;
  const at = readNumber(query.at, Number.NaN, 0, maxTime);
  const lines = readNumber(query.lines, 20, 1, maxLines);
  if (session === undefined || at === null || Number.isNaN(at))
    return "session must be provider:sessionId, and at milliseconds since 1970";
  return lines === null ? `lines must be a number from 1 to ${maxLines}` : { session, at, lines };
}

/** Leaves out what is empty. Returns a text if one is too long. */
function readTexts(query: Query, names: readonly string[]): Readonly<Record<string, string>> | string {
  const texts: Record<string, string> = {};
  for (const name of names) {
    const value = query[name];
    if (value === undefined || value === "") continue;
    if (typeof value !== "string" || value.length > limits.maxPathLength) return `${name} is too long`;
    texts[name] = value;
  }
  return texts;
}

/** The number of days. */
export function parseStatsQuery(query: Query): number | string {
  return readNumber(query.days, defaultDays, 1, maxDays) ?? `days must be a number from 1 to ${maxDays}`;
}

/** The last 24 hours unless the query says otherwise. */
export function parseLanesQuery(
  query: Query,
  now: number,
): { readonly from: number; readonly to: number } | string {
  const to = readNumber(query.to, now, 0, Number.MAX_SAFE_INTEGER);
  const from = readNumber(query.from, (to ?? now) - dayMs, 0, Number.MAX_SAFE_INTEGER);
  if (from === null || to === null) return "from and to must be milliseconds since 1970";
  if (from >= to) return "from must be before to";
  return to - from > maxRangeMs ? "the range must not be longer than 31 days" : { from, to };
}

/** The wall time. */
export function parseMomentQuery(query: Query): number | string {
  const at = readNumber(query.at, Number.NaN, 0, maxTime);
  return at === null || Number.isNaN(at) ? "at must be milliseconds since 1970" : at;
}

function isKind(value: unknown): value is HistoryKind {
  return historyKinds.some((kind) => kind === value);
}

/** null if it is not a whole number in the range. */
function readNumber(value: unknown, byDefault: number, min: number, max: number): number | null {
  if (value === undefined || value === "") return byDefault;
  const number = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  return number >= min && number <= max ? number : null;
}
