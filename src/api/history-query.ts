/** Reads the queries of GET /api/history, /api/stats and /api/lanes. Each returns a text that says what is wrong, or the query. */
import { type HistoryKind, type HistoryQuery, historyKinds } from "../core/interfaces/wire.ts";
import { limits } from "../core/limits.ts";
import { dayMs } from "../core/timing.ts";

type Query = Readonly<Record<string, unknown>>;

const defaultDays = 14;
const maxDays = 366;
const maxRangeMs = 31 * dayMs;

export function parseHistoryQuery(query: Query): HistoryQuery | string {
  const { kind } = query;
  if (kind !== undefined && !isKind(kind)) return `kind must be one of ${historyKinds.join(", ")}`;
  const limit = readNumber(query.limit, 50, 1, limits.maxHistoryPage);
  if (limit === null) return `limit must be a number from 1 to ${limits.maxHistoryPage}`;
  const parsed: Record<string, unknown> = { limit, ...(kind === undefined ? {} : { kind }) };
  for (const name of ["q", "project", "agent", "session", "before"] as const) {
    const value = query[name];
    if (value === undefined || value === "") continue;
    if (typeof value !== "string" || value.length > limits.maxPathLength) return `${name} is too long`;
    parsed[name] = value;
  }
  return parsed as HistoryQuery;
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

function isKind(value: unknown): value is HistoryKind {
  return historyKinds.some((kind) => kind === value);
}

/** null if it is not a whole number in the range. */
function readNumber(value: unknown, byDefault: number, min: number, max: number): number | null {
  if (value === undefined || value === "") return byDefault;
  const number = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  return number >= min && number <= max ? number : null;
}
