import { expect, test } from "bun:test";
import { describeRound } from "../../../src/core/view/rounds.ts";

const asks = (count: number, kind: "permission" | "plan") => Array.from({ length: count }, () => ({ kind }));

test.each([
  [asks(1, "permission"), ""],
  [asks(2, "permission"), "2 asks, about 30 s"],
  [asks(6, "permission"), "6 asks, about 90 s"],
  [[...asks(3, "permission"), ...asks(3, "plan")], "6 asks, about 4 min"],
])("a round of %j takes %j", (round, text) => {
  expect(describeRound(round)).toBe(text);
});
