import { expect, test } from "bun:test";
import { interleave, median, ratio } from "./rounds.ts";

test("the median is the middle one, or lies between the middle two", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([9, 1, 5, 7])).toBe(6);
});

test("a ratio compares runs of the same round, so that one slow round does not tip it", () => {
  const figures = new Map([
    ["ours", [1, 10, 1]],
    ["theirs", [2, 20, 2]],
  ]);
  expect(ratio(figures, "ours", "theirs")).toBe(0.5);
});

test("each goes first in turn, and the rounds for warming up are not counted", async () => {
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
