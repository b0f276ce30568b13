import { describe, expect, test } from "bun:test";
import type { Session } from "../../../src/core/session/session.ts";
import {
  ask,
  blocked,
  child,
  createTestMenu,
  done,
  formatSubmenu,
  listEntries,
  listLabels,
  minute,
  session,
} from "./menu/fixture.ts";

describe("names", () => {
  const named = (sessions: readonly Session[]): string[] =>
    listLabels(createTestMenu(sessions).items).flatMap((label) => /^○ (.*?) · /.exec(label)?.[1] ?? []);
  const twice = (one: Partial<Session>, other: Partial<Session>): string[] =>
    named([
      done("app", minute, { sessionId: "5e55109e-1", ...one }),
      done("app", 2 * minute, { sessionId: "7a11ba11-2", ...other }),
    ]);

  test.each([
    ["by branch", { gitBranch: "main" }, { gitBranch: "fix" }, ["app (main)", "app (fix)"]],
    ["by folder", { firstCwd: "/a/app" }, { firstCwd: "/b/app" }, ["app in a", "app in b"]],
    ["by title", { title: "One" }, { title: "Two" }, ["app “One”", "app “Two”"]],
    ["by id", {}, {}, ["app #5e55109e", "app #7a11ba11"]],
    ["by branch and by id", { gitBranch: "main" }, {}, ["app (main)", "app #7a11ba11"]],
  ])("tell two of one project apart %s", (_, one, other, names) => {
    expect(twice(one, other)).toEqual(names);
  });

  test("that would look the same once they are cut are told apart too", () => {
    const long = (part: string) => `a-project-with-a-name-${part}-that-no-menu-can-show`;
    const [one = "", two = ""] = named([done(long("one"), minute), done(long("two"), 2 * minute)]);
    expect(one).toMatch(/^a-project-wi…nu-can-show #\w{8}$/);
    expect(two).toMatch(/^a-project-wi…nu-can-show #\w{8}$/);
    expect(one).not.toBe(two);
  });

  test("that are long keep their beginning and their end", () => {
    expect(named([done("customer-portal-frontend-next", minute)])).toEqual(["customer-por…ontend-next"]);
  });

  test("of a session without a project are its id", () => {
    const bare = session("x", { firstCwd: null, sessionId: "5e55109e-1" });
    expect(named([bare])).toEqual(["#5e55109e"]);
  });
});

describe("texts of strangers", () => {
  const label = (summary: string): string =>
    listLabels(createTestMenu([blocked("api", 0, { asks: [ask(0, { summary })] })]).items)[1] ?? "";
  const start = "● api · now · Bash: ";

  test.each([
    ["lines become one", "a\n\n  b\tc\u2028d", "a b c d"],
    [
      "colours of a terminal go",
      "\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007",
      "red link",
    ],
    ["marks that turn the direction round go", "txt.\u202eexe\u202c \u2066x\u2069", "txt.exe x"],
    ["what cannot be seen goes", "a\u200bb\u00adc\ufeffd\u{e0041}e", "abcde"],
    ["half a character is replaced", "a\ud83d b", "a\ufffd b"],
    ["towers of accents are taken down", `a${"\u0301".repeat(50)}b`, "\u00e1\u0301\u0301\u0301b"],
    ["emoji that are joined stay whole", "👩‍👩‍👧‍👦 ok", "👩‍👩‍👧‍👦 ok"],
  ])("%s", (_, given, shown) => {
    expect(label(given)).toBe(start + shown);
  });

  test("are cut at the end of a word", () => {
    expect(label("one two three four five six seven eight nine ten eleven twelve thirteen")).toBe(
      `${start}one two three four five six seven eight nine ten eleven…`,
    );
  });

  test("without words are cut between characters, wide ones counting twice", () => {
    const cut = label("漢".repeat(100));
    expect(cut).toEndWith("漢…");
    expect(Bun.stringWidth(cut)).toBeWithin(78, 81);
    expect(label("😀".repeat(100)).isWellFormed()).toBe(true);
  });

  test("cannot pass for a command", () => {
    const trap = blocked("Quit", 0, {
      title: "Quit",
      gitBranch: "Settings…",
      asks: [ask(0, { tool: "Allow", summary: "Quit" })],
      children: [child("a1", { type: "Go to terminal", detail: "Quit" })],
    });
    const menu = createTestMenu([trap]);
    expect(formatSubmenu([trap], trap).slice(0, 4)).toEqual([
      "(“Quit”)",
      "(Branch Settings…)",
      "(Asks · Allow: Quit)",
      "(└ Go to terminal · Quit)",
    ]);
    const quits = listEntries(menu.items).filter((entry) => entry.label === "Quit");
    expect(quits.map(({ action }) => action)).toEqual([{ do: "quit" }]);
  });
});
