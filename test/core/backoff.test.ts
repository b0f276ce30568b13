import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { computeRetryMs } from "../../src/core/backoff.ts";

const backoff = { firstMs: 1_000, maxMs: 60_000 };

describe("the pause before the next attempt", () => {
  test("doubles with each failure in a row, up to the maximum", () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 2_000].map((failures) => computeRetryMs(backoff, failures));
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  test.each([
    ["what the server asks for", 7_000, 7_000],
    ["the first pause at least", 10, 1_000],
    ["the first pause for one that lies in the past", -5_000, 1_000],
    ["a day at most", 1e15, 86_400_000],
    ["a day for one that never ends", Number.POSITIVE_INFINITY, 86_400_000],
    ["its own for one that is not a number", Number.NaN, 4_000],
  ])("is %s", (_name, retryAfterMs, pauseMs) => {
    expect(computeRetryMs(backoff, 3, { retryAfterMs })).toBe(pauseMs);
  });

  test("is a different one for each client of a server, but never longer, nor shorter than the jitter allows", () => {
    const jittered = { ...backoff, jitter: 0.25 };
    expect(computeRetryMs(jittered, 1, { random: 0.5 })).toBe(875);
    fc.assert(
      fc.property(fc.nat(2_000), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
        const longest = computeRetryMs(backoff, failures);
        const pause = computeRetryMs(jittered, failures, { random });
        expect(pause).toBeLessThanOrEqual(longest);
        expect(pause).toBeGreaterThanOrEqual(longest * 0.75);
      }),
    );
  });
});
