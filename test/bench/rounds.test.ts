import { expect, test } from "bun:test";
import { formatComparison, formatFigures, interleave, median, percentile, ratio } from "./rounds.ts";

test("the median is the middle value, or the mean of the middle two", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([9, 1, 5, 7])).toBe(6);
});

test("a ratio compares runs of the same round, so one slow round does not change it", () => {
  const figures = new Map([
    ["ours", [1, 10, 1]],
    ["theirs", [2, 20, 2]],
  ]);
  expect(ratio(figures, "ours", "theirs")).toBe(0.5);
});

test("each case goes first in turn, and warm-up rounds do not count", async () => {
  const order: string[] = [];
  const run = (name: string) => (round: number) => {
    order.push(name);
    return round;
  };
  const cases = [
    { name: "a", run: run("a") },
    { name: "b", run: run("b") },
  ];
  const figures = await interleave(cases, { rounds: 2, warmUp: 1 });
  expect(order.join("")).toBe("abbaab");
  expect(figures.get("b")).toEqual([0, 1]);
});

test("a percentile is a value that was measured; the largest one is 1", () => {
  const values = [30, 10, 20, 40];
  expect([0, 0.5, 0.99, 1].map((part) => percentile(values, part))).toEqual([10, 30, 40, 40]);
});

test("a table shows ratios only to what was measured", () => {
  const figures = new Map([
    ["beckon", [1, 3, 2]],
    ["bare", [2, 6, 4]],
  ]);
  expect(formatFigures(figures, "ms", ["bare", "against"], 0).split("\n")).toEqual([
    "        median ms  range  × bare",
    "beckon          2    1–3    0.50",
    "bare            4    2–6    1.00",
  ]);
});

test("two programs are compared by the ratio of the first to the second, one is not", () => {
  const row = { label: "CPU ms", values: [50, 200], digits: 0 };
  expect(formatComparison([row], ["beckon", "against"]).split("\n")).toEqual([
    "        beckon  against  ratio",
    "CPU ms      50      200   0.25",
  ]);
  expect(formatComparison([{ ...row, values: [50] }], ["beckon"])).not.toContain("ratio");
});
