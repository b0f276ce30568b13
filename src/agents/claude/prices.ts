/**
 * What models cost at list price, and how large their context is. The numbers come from @pydantic/genai-prices
 * (assets/prices). A model that is not in the list has no price: nothing is guessed.
 */
import table from "../../../assets/prices/anthropic.json";

/** Dollars per million tokens. null if the model has no such tokens. */
export interface PricePerPart {
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite5m: number | null;
  readonly cacheWrite1h: number | null;
}

export interface ModelPrices {
  readonly names: readonly string[];
  readonly patterns: readonly string[];
  readonly contextWindow: number | null;
  readonly base: PricePerPart;
  /** The price of the tokens of a part beyond 200,000 in one request. null if they cost the same. */
  readonly above200k: PricePerPart | null;
}

/** The tokens of one request. */
export type TokenParts = Readonly<Record<keyof PricePerPart, number>>;

const anthropicModels: readonly ModelPrices[] = table.models;
const partNames = ["input", "output", "cacheRead", "cacheWrite5m", "cacheWrite1h"] as const;
const tierStart = 200_000;

/** What fast mode multiplies the price by. genai-prices has no prices for it. */
const fastFactors: ReadonlyMap<string, number> = new Map([
  ["claude-opus-4-6", 6],
  ["claude-opus-4-7", 6],
  ["claude-opus-4-8", 2],
  ["claude-opus-5", 2],
]);
/** Models without a fast mode of their own: the price is the same. */
const modelsWithoutFastMode = /^claude-(?:sonnet|haiku|fable)-/;
/** genai-prices has no price of Sonnet 4 for more than 200,000 tokens. It is that of Sonnet 4.5. */
const sameTiers: ReadonlyMap<string, string> = new Map([["claude-sonnet-4", "claude-sonnet-4-5"]]);

const modelsByName = new Map<string, ModelPrices | null>();
const maxNames = 1_000;

/** Picodollars, an integer: a sum of many requests has no rounding errors. null if the model's price is unknown. */
export function priceTokens(model: string, parts: TokenParts, isFast = false): number | null {
  const prices = findModel(model);
  const factor = isFast ? findFastFactor(model) : 1;
  if (!prices || factor === null) return null;
  const isLong = partNames.some((name) => parts[name] > tierStart);
  const tier = isLong ? findTier(model, prices) : null;
  let sum = 0;
  for (const name of partNames) {
    const count = parts[name];
    if (count === 0) continue;
    const base = prices.base[name];
    if (base === null) return null;
    const above = tier === null ? 0 : Math.max(0, count - tierStart);
    // A dollar per million tokens is a million picodollars per token.
    sum += (count - above) * Math.round(base * 1e6) + above * Math.round((tier?.[name] ?? base) * 1e6);
  }
  return sum * factor;
}

function findTier(model: string, { above200k }: ModelPrices): PricePerPart | null {
  return above200k ?? findModel(sameTiers.get(simplifyName(model)) ?? "")?.above200k ?? null;
}

/** null if unknown. */
export function findContextWindow(model: string): number | null {
  return findModel(model)?.contextWindow ?? null;
}

function findFastFactor(model: string): number | null {
  const name = simplifyName(model);
  return fastFactors.get(name) ?? (modelsWithoutFastMode.test(name) ? 1 : null);
}

function findModel(model: string): ModelPrices | null {
  const known = modelsByName.get(model);
  if (known !== undefined) return known;
  const name = simplifyName(model);
  const isMatch = ({ names, patterns }: ModelPrices) =>
    names.includes(name) || names.includes(model) || patterns.some((text) => new RegExp(text).test(name));
  const prices = anthropicModels.find(isMatch) ?? null;
  if (modelsByName.size < maxNames) modelsByName.set(model, prices);
  return prices;
}

/**
 * Without the date, the provider's additions and the size of the context: `us.anthropic.claude-opus-4-5-20251101-v1:0` and
 * `claude-opus-4-5@20251101` are `claude-opus-4-5`. The names of the list are prefixes of names with a date, but
 * `claude-sonnet-5` is another model than `claude-sonnet-5-5`.
 */
function simplifyName(model: string): string {
  return model
    .replace(/^.*[/.](?=claude-)/, "")
    .replace(/\[1m\]$/i, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace(/[-@]\d{8}$/, "")
    .replace(/-latest$/, "");
}
