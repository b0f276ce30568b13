import { describe, expect, test } from "bun:test";
import {
  formatAge,
  formatCost,
  formatExactDuration,
  formatRoughAge,
} from "../../../src/core/view/figures.ts";

const hourMs = 3_600_000;

describe("the command line and the page say the same", () => {
  test.each([
    [24 * hourMs, "1d", "1d", "1 day"],
    [26 * hourMs, "1d 2h", "1d 2h", "1 day"],
    [61 * 60_000, "1h 01m", "1h 01m", "1 h"],
    [90_000, "1m 30s", "1m", "1 min"],
    [0, "0s", "0s", "now"],
  ])("of %d ms", (ms, exact, age, rough) => {
    expect([formatExactDuration(ms), formatAge(ms), formatRoughAge(ms)]).toEqual([exact, age, rough]);
  });

  test("of a cost of a thousand dollars", () => expect(formatCost(1_204)).toBe("$1,204"));
  test("of a cost that is known in part", () => {
    expect([4.18, 0.001, 1_204].map((usd) => formatCost(usd, true))).toEqual(["$4.18+", "$0.00+", "$1,204+"]);
  });
});
