import { expect, test } from "bun:test";
import { chooseWindow } from "../../../src/core/terminals/choose-window.ts";
import type { WindowQuery } from "../../../src/core/terminals/terminal.ts";

const query = (more: Partial<WindowQuery> = {}): WindowQuery => ({
  pids: [88, 50],
  ids: [],
  titles: [],
  cwd: null,
  ...more,
});
const windows = (...titles: string[]) =>
  titles.map((title, index) => ({ id: String(index), pid: 88, title, active: false }));

/** The id of the window, with `?` if the choice is not certain. */
function choose(titles: readonly string[], more: Partial<WindowQuery>): string {
  const choice = chooseWindow(windows(...titles), query(more));
  if (choice.kind !== "one") return choice.kind;
  return choice.isCertain ? choice.window.id : `${choice.window.id}?`;
}

test.each<[string, string[], Partial<WindowQuery>, string]>([
  ["the only window of the process is chosen", ["anything"], {}, "0"],
  ["no window is found", [], {}, "none"],
  ["two windows that nothing distinguishes are both candidates", ["a", "b"], {}, "several"],
  [
    "the title counts behind an agent's symbol",
    ["zsh", "✳ Fix the login"],
    { titles: ["Fix the login"] },
    "1",
  ],
  [
    "the title counts before a terminal's name",
    ["Fix the login — Konsole", "zsh"],
    { titles: ["fix the  login"] },
    "0",
  ],
  ["an equal title counts before one that contains it", ["Fix", "Fix the login"], { titles: ["Fix"] }, "0"],
  ["a title that two windows have does not decide", ["Fix", "Fix"], { titles: ["Fix"] }, "several"],
  ["a title that is too short does not decide", ["ab", "zsh"], { titles: ["ab"] }, "several"],
  ["the second title counts if the first matches nothing", ["zsh", "web"], { titles: ["nope", "web"] }, "1"],
  [
    "the folder in the title counts, but is not certain",
    ["~/code/shop", "~/code/bank"],
    { cwd: "/home/ana/code/shop" },
    "0?",
  ],
  ["the folder counts only as a whole word", ["shopping", "bank"], { cwd: "/home/ana/code/shop" }, "several"],
  ["a folder may have symbols in its name", ["(c++) x", "c"], { cwd: "/home/ana/(c++)" }, "0?"],
  ["the title counts before the folder", ["shop", "Fix"], { titles: ["Fix"], cwd: "/x/shop" }, "1"],
  ["the id of the window decides", ["a", "b"], { ids: ["1"] }, "1"],
])("%s", (_, titles, more, expected) => {
  expect(choose(titles, more)).toBe(expected);
});

test("a parent's window counts only if the nearer process has none", () => {
  const both = [
    { id: "1", pid: 50, title: "", active: true },
    { id: "2", pid: 88, title: "", active: false },
  ];
  expect(chooseWindow(both, query())).toMatchObject({ kind: "one", window: { id: "2" } });
  expect(chooseWindow(both.slice(0, 1), query())).toMatchObject({ kind: "one", window: { id: "1" } });
});

test("the id of another process's window does not count", () => {
  const foreign = [
    { id: "7", pid: 4, title: "", active: true },
    { id: "8", pid: null, title: "", active: true },
  ];
  expect(chooseWindow(foreign, query({ ids: ["7", "8"] }))).toEqual({ kind: "none" });
});

test("the id of a child window decides for the window around it", () => {
  const [first, second] = windows("a", "b");
  if (!first || !second) throw new Error("no windows");
  const choice = chooseWindow([first, { ...second, childIds: ["99"] }], query({ ids: ["99"] }));
  expect(choice).toMatchObject({ kind: "one", window: { id: "1" }, isCertain: true });
});
