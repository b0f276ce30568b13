/**
 * bun assets/prices/generate.ts    writes anthropic.json: what beckon needs of @pydantic/genai-prices. The whole package
 * would add 830 KB to the program, and loading it takes 85 ms and 21 MB of memory.
 */
import { findProvider, type MatchLogic, type ModelPrice } from "@pydantic/genai-prices";
import type { ModelPrices } from "../../src/agents/claude/prices.ts";

export function listModels(providerId: string): ModelPrices[] {
  const provider = findProvider({ providerId });
  if (!provider) throw new Error(`@pydantic/genai-prices has no provider ${providerId}`);
  return provider.models.map(({ match, context_window, prices }) => ({
    names: listTexts(match, ["equals", "starts_with"]),
    patterns: listTexts(match, ["regex"]),
    contextWindow: context_window ?? null,
    // The last one applies now.
    ...readPrices(Array.isArray(prices) ? (prices.at(-1)?.prices ?? {}) : prices),
  }));
}

function listTexts(match: MatchLogic, kinds: readonly string[]): string[] {
  if ("or" in match) return match.or.flatMap((inner) => listTexts(inner, kinds));
  return Object.entries(match).flatMap(([kind, text]) =>
    kinds.includes(kind) && typeof text === "string" ? [text] : [],
  );
}

function readPrices(prices: ModelPrice): Pick<ModelPrices, "base" | "above200k"> {
  const part = (name: string, tier: boolean): number | null => {
    const price = prices[name];
    if (price === undefined || typeof price === "number") return price ?? null;
    return tier ? (price.tiers.find(({ start }) => start === 200_000)?.price ?? price.base) : price.base;
  };
  const parts = (tier: boolean) => ({
    input: part("input_mtok", tier),
    output: part("output_mtok", tier),
    cacheRead: part("cache_read_mtok", tier),
    cacheWrite5m: part("cache_write_mtok", tier),
    cacheWrite1h: part("cache_write_1h_mtok", tier),
  });
  const isTiered = Object.values(prices).some((price) => typeof price === "object");
  return { base: parts(false), above200k: isTiered ? parts(true) : null };
}

if (import.meta.main) {
  const text = JSON.stringify({ models: listModels("anthropic") });
  await Bun.write(new URL("anthropic.json", import.meta.url), text);
}
