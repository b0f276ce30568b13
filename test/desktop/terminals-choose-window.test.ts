import { expect, test } from "bun:test";
import { choose } from "../../src/desktop/terminals/choose.ts";
import type { Wanted } from "../../src/desktop/terminals/row.ts";

const wanted = (more: Partial<Wanted> = {}): Wanted => ({
  pids: [88, 50],
  ids: [],
  titles: [],
  cwd: null,
  ...more,
});
const windows = (...titles: string[]) =>
  titles.map((title, at) => ({ id: String(at), pid: 88, title, active: false }));

function chosen(titles: readonly string[], more: Partial<Wanted>): string {
  const choice = choose(windows(...titles), wanted(more));
  if (choice.kind !== "one") return choice.kind;
  return choice.sure ? choice.window.id : `${choice.window.id}?`;
}

test.each<[string, string[], Partial<Wanted>, string]>([
  ["the only window of the process", ["anything"], {}, "0"],
  ["no window", [], {}, "none"],
  ["nothing tells them apart", ["a", "b"], {}, "several"],
  ["the title, behind an agent's sign", ["zsh", "✳ Fix the login"], { titles: ["Fix the login"] }, "1"],
  [
    "the title, before a terminal's name",
    ["Fix the login — Konsole", "zsh"],
    { titles: ["fix the  login"] },
    "0",
  ],
  ["the whole title before a part of one", ["Fix", "Fix the login"], { titles: ["Fix"] }, "0"],
  ["a title that two have", ["Fix", "Fix"], { titles: ["Fix"] }, "several"],
  ["a title too short to tell", ["ab", "zsh"], { titles: ["ab"] }, "several"],
  ["the second title, where the first tells nothing", ["zsh", "web"], { titles: ["nope", "web"] }, "1"],
  ["the folder, which is less sure", ["~/code/shop", "~/code/bank"], { cwd: "/home/ana/code/shop" }, "0?"],
  ["the folder as a word only", ["shopping", "bank"], { cwd: "/home/ana/code/shop" }, "several"],
  ["a folder with signs in it", ["(c++) x", "c"], { cwd: "/home/ana/(c++)" }, "0?"],
  ["the title before the folder", ["shop", "Fix"], { titles: ["Fix"], cwd: "/x/shop" }, "1"],
  ["a name that the process gave itself", ["a", "b"], { ids: ["1"] }, "1"],
])("%s", (_, titles, more, expected) => {
  expect(chosen(titles, more)).toBe(expected);
});

test("a parent's window counts only where the nearer one has none", () => {
  const both = [
    { id: "1", pid: 50, title: "", active: true },
    { id: "2", pid: 88, title: "", active: false },
  ];
  expect(choose(both, wanted())).toMatchObject({ kind: "one", window: { id: "2" } });
  expect(choose(both.slice(0, 1), wanted())).toMatchObject({ kind: "one", window: { id: "1" } });
});

test("a name of a window that belongs to somebody else does not count", () => {
  const theirs = [
    { id: "7", pid: 4, title: "", active: true },
    { id: "8", pid: null, title: "", active: true },
  ];
  expect(choose(theirs, wanted({ ids: ["7", "8"] }))).toEqual({ kind: "none" });
});

test("a window inside of one that the window manager knows names that one", () => {
  const [first, second] = windows("a", "b");
  if (!first || !second) throw new Error("no windows");
  const choice = choose([first, { ...second, inside: ["99"] }], wanted({ ids: ["99"] }));
  expect(choice).toMatchObject({ kind: "one", window: { id: "1" }, sure: true });
});
