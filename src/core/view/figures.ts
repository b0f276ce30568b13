/** Formats tokens, money and time for users. Pure: the page uses it too. */
import type { ContextUse, Tokens } from "../session/event.ts";
import { formatCount } from "../text/words.ts";
import { dayMs, hourMs, minuteMs } from "../timing.ts";

/** 980, 12k, 1.2M, 34M */
export function formatTokens(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  const [amount, unit] =
    count < 999_500 ? [count / 1_000, "k"] : count < 999_500_000 ? [count / 1e6, "M"] : [count / 1e9, "G"];
  return `${amount < 9.95 && unit !== "k" ? amount.toFixed(1) : Math.round(amount)}${unit}`;
}

/** $0.42, $12.30, $1,204, or $0.42+ if it is a part of it; null is "unknown". */
export function formatCost(usd: number | null, isPartial = false): string {
  if (usd === null) return "unknown";
  const more = isPartial ? "+" : "";
  if (usd > 0 && usd < 0.005) return isPartial ? "$0.00+" : "<$0.01";
  if (usd < 999.995) return `$${usd.toFixed(2)}${more}`;
  return `$${Math.round(usd).toLocaleString("en-US")}${more}`;
}

export const sumTokens = ({ input, output, cacheRead, cacheWrite }: Tokens): number =>
  input + output + cacheRead + cacheWrite;

export interface SessionAmounts {
  readonly tokens: Tokens | null;
  readonly costUsd: number | null;
  readonly context: ContextUse | null;
  readonly tasks: { readonly done: number; readonly total: number } | null;
}

/** "3/7 tasks · context 42% · 1.2M tokens · $1.24": what is known of it. Empty if nothing is. */
export function formatUsage({ tokens, costUsd, context, tasks }: SessionAmounts): string {
  return [
    tasks && `${tasks.done}/${tasks.total} tasks`,
    context && formatContext(context),
    tokens && `${formatTokens(sumTokens(tokens))} tokens`,
    tokens && (costUsd === null ? "cost unknown" : formatCost(costUsd)),
  ]
    .filter(Boolean)
    .join(" · ");
}

function formatContext({ used, window }: ContextUse): string {
  return window === null ? `context ${formatTokens(used)}` : `context ${Math.round((100 * used) / window)}%`;
}

const pad = (value: number): string => String(value).padStart(2, "0");

/** How long something took: "48s", "6m 41s", "1h 42m", "3d 4h", "3d". */
export function formatExactDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${pad(seconds % 60)}s`;
  const hours = Math.floor(seconds / 3_600);
  if (hours < 24) return `${hours}h ${pad(Math.floor((seconds % 3_600) / 60))}m`;
  const days = `${Math.floor(hours / 24)}d`;
  return hours % 24 === 0 ? days : `${days} ${hours % 24}h`;
}

/** How long something has been so, for a column: "48s", "6m", "1h 42m", "3d 4h". */
export function formatAge(ms: number): string {
  const minutes = Math.floor(ms / minuteMs);
  return minutes >= 1 && minutes < 60 ? `${minutes}m` : formatExactDuration(ms);
}

/** In one unit, for what is not drawn again every minute: "now", "3 min", "2 h", "1 day". */
export function formatRoughAge(ms: number): string {
  if (ms < minuteMs) return "now";
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`;
  if (ms < dayMs) return `${Math.floor(ms / hourMs)} h`;
  return formatCount(Math.floor(ms / dayMs), "day");
}

/** In a sentence: "38 s", "42 min", "1 h 36 min". */
export function formatSpokenDuration(ms: number): string {
  // Never rounded up: it is the number that the other formats show.
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
