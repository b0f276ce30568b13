/** Formats amounts of tokens and money for users. */

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
