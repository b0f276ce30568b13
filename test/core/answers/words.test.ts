/** One text for one fact, wherever the user reads it. */
import { expect, test } from "bun:test";
import { formatAnswer, formatEnding, formatEndingCell } from "../../../src/core/answers/words.ts";

test.each([
  ["allowed", "permission", "terminal", "allowed in the terminal", "allowed · terminal"],
  ["replied", "question", "terminal", "answered in the terminal", "answered · terminal"],
  ["denied", "permission", "phone (@joe)", "denied by phone (@joe)", "denied · phone (@joe)"],
  ["denied", "plan", "menu", "sent back from the menu", "sent back · menu"],
  ["denied", "question", "page", "declined on the dashboard", "declined · page"],
  ["approved", "plan", "page", "approved on the dashboard", "approved · page"],
  [
    "always",
    "permission",
    "command line",
    "allowed, and from now on, on the command line",
    "allowed, and from now on · command line",
  ],
  ["rule", "permission", "rule", "allowed by your rule", "allowed by your rule"],
  ["dismissed", "permission", null, "no longer waiting for you", "no longer waiting for you"],
] as const)("%s of a %s, %s: %s", (how, kind, where, sentence, cell) => {
  expect([formatEnding(how, kind, where), formatEndingCell(how, kind, where)]).toEqual([sentence, cell]);
});

test.each([
  [{ do: "allow" }, "plan", "approved"],
  [{ do: "always", choice: 1 }, "permission", "allowed, and from now on: Always allow b"],
  [{ do: "deny", message: "use pnpm" }, "permission", "denied: use pnpm"],
  [{ do: "deny", message: null }, "question", "declined"],
  [{ do: "reply", replies: [["Red", "Blue"], ["Large"]] }, "question", "replied: Red, Blue / Large"],
] as const)("%j to a %s: %s", (answer, kind, text) => {
  expect(formatAnswer(answer, { kind, always: ["Always allow a", "Always allow b"] })).toBe(text);
});
