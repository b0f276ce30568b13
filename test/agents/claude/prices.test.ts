import { describe, expect, test } from "bun:test";
import { calcPrice } from "@pydantic/genai-prices";
import table from "../../../assets/prices/anthropic.json";
import { listModels } from "../../../assets/prices/generate.ts";
import { findContextWindow, priceTokens } from "../../../src/agents/claude/prices.ts";

const parts = { input: 1_000, output: 200, cacheRead: 30_000, cacheWrite5m: 400, cacheWrite1h: 0 };

describe("the price of a model", () => {
  test("is that of the installed @pydantic/genai-prices: bun assets/prices/generate.ts updates the list", () => {
    expect<unknown>(table.models).toEqual(listModels("anthropic"));
  });

  test.each([
    "claude-opus-5-5",
    "claude-sonnet-4-6",
    "claude-sonnet-4-5-20250929",
    "claude-haiku-4-5-20251001",
    "claude-fable-5-1",
    "claude-3-opus-20240229",
  ])("%s costs what genai-prices calculates", (model) => {
    const usage = {
      input_tokens: parts.input + parts.cacheRead + parts.cacheWrite5m,
      output_tokens: parts.output,
      cache_read_tokens: parts.cacheRead,
      cache_write_tokens: parts.cacheWrite5m,
    };
    const expected = calcPrice(usage, model, { providerId: "anthropic" })?.total_price ?? Number.NaN;
    expect((priceTokens(model, parts) ?? 0) / 1e12).toBeCloseTo(expected, 12);
  });

  test.each([
    ["claude-opus-4-5-20251101", "claude-opus-4-5"],
    ["claude-opus-4-5@20251101", "claude-opus-4-5"],
    ["us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"],
    ["anthropic/claude-opus-4.5", "claude-opus-4-5"],
    ["claude-opus-4-6[1m]", "claude-opus-4-6"],
    ["claude-3-7-sonnet-latest", "claude-3-7-sonnet-20250219"],
  ])("%s costs as much as %s", (name, other) => {
    expect(priceTokens(name, parts)).not.toBeNull();
    expect(priceTokens(name, parts)).toBe(priceTokens(other, parts));
  });

  test.each(["claude-sonnet-5-5", "claude-opus-6", "claude-opus-4-55", "gpt-5", "", "__proto__"])(
    "%p is not guessed",
    (model) => {
      expect(priceTokens(model, parts)).toBeNull();
      expect(findContextWindow(model)).toBeNull();
    },
  );

  test("fast mode of a model whose fast price is unknown is not guessed", () => {
    expect(priceTokens("claude-opus-5-5", parts, true)).toBeNull();
    expect(priceTokens("claude-opus-4-8", parts, true)).toBe(
      2 * (priceTokens("claude-opus-4-8", parts) ?? 0),
    );
  });
});
