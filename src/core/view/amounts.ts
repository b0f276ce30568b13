/** Formats amounts of tokens, money and time for users. */
import type { ContextUse, Tokens } from "../session/event.ts";

/** 980, 12k, 1.2M, 34M */
export function formatTokens(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  const [amount, unit] =
    count < 999_500 ? [count / 1_000, "k"] : count < 999_500_000 ? [count / 1e6, "M"] : [count / 1e9, "G"];
  return `${amount < 9.95 && unit !== "k" ? amount.toFixed(1) : Math.round(amount)}${unit}`;
}

/** $0.42, $12.30, $1,204; null is "unknown". */
export function formatCost(usd: number | null): string {
  if (usd === null) return "unknown";
  if (usd > 0 && usd < 0.005) return "<$0.01";
  if (usd < 999.995) return `$${usd.toFixed(2)}`;
  return `$${Math.round(usd).toLocaleString("en-US")}`;
}

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
    tokens && `${formatTokens(tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite)} tokens`,
    tokens && (costUsd === null ? "cost unknown" : formatCost(costUsd)),
  ]
    .filter(Boolean)
    .join(" · ");
}

function formatContext({ used, window }: ContextUse): string {
  return window === null ? `context ${formatTokens(used)}` : `context ${Math.round((100 * used) / window)}%`;
}

const pad = (value: number): string => String(value).padStart(2, "0");

/** How long something took: "48s", "6m 41s", "1h 42m", "3d 4h". */
export function formatExactDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${pad(seconds % 60)}s`;
  const hours = Math.floor(seconds / 3_600);
  if (hours < 24) return `${hours}h ${pad(Math.floor((seconds % 3_600) / 60))}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}
