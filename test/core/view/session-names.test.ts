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
  const namesOf = (sessions: readonly Session[]): string[] =>
    listLabels(createTestMenu(sessions).items).flatMap((label) => /^○ (.*?) · /.exec(label)?.[1] ?? []);
  const namesOfTwo = (one: Partial<Session>, other: Partial<Session>): string[] =>
    namesOf([
      done("app", minute, { sessionId: "5e55109e-1", ...one }),
      done("app", 2 * minute, { sessionId: "7a11ba11-2", ...other }),
    ]);

  test.each([
    ["by branch", { gitBranch: "main" }, { gitBranch: "fix" }, ["app (main)", "app (fix)"]],
    ["by folder", { firstCwd: "/a/app" }, { firstCwd: "/b/app" }, ["app in a", "app in b"]],
    ["by title", { title: "One" }, { title: "Two" }, ["app “One”", "app “Two”"]],
    ["by id", {}, {}, ["app #5e55109e", "app #7a11ba11"]],
    ["by branch and by id", { gitBranch: "main" }, {}, ["app (main)", "app #7a11ba11"]],
  ])("of two sessions of one project differ %s", (_, one, other, names) => {
    expect(namesOfTwo(one, other)).toEqual(names);
  });

  test("that would be equal after truncation differ too", () => {
    const long = (part: string) => `a-project-with-a-name-${part}-that-no-menu-can-show`;
    const [one = "", two = ""] = namesOf([done(long("one"), minute), done(long("two"), 2 * minute)]);
    expect(one).toMatch(/^a-project-wi…nu-can-show #\w{8}$/);
    expect(two).toMatch(/^a-project-wi…nu-can-show #\w{8}$/);
    expect(one).not.toBe(two);
  });

  test("that are long keep their start and end", () => {
    expect(namesOf([done("customer-portal-frontend-next", minute)])).toEqual(["customer-por…ontend-next"]);
  });

  test("of a session without a project is its id", () => {
    const bare = session("x", { firstCwd: null, sessionId: "5e55109e-1" });
    expect(namesOf([bare])).toEqual(["#5e55109e"]);
  });
});

describe("untrusted text", () => {
  const label = (summary: string): string =>
    listLabels(createTestMenu([blocked("api", 0, { asks: [ask(0, { summary })] })]).items)[1] ?? "";
  const start = "● api · now · Bash: ";

  test.each([
    ["lines are joined", "a\n\n  b\tc\u2028d", "a b c d"],
    [
      "terminal colours are removed",
      "\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007",
      "red link",
    ],
    ["direction marks are removed", "txt.\u202eexe\u202c \u2066x\u2069", "txt.exe x"],
    ["invisible characters are removed", "a\u200bb\u00adc\ufeffd\u{e0041}e", "abcde"],
    ["half a character is replaced", "a\ud83d b", "a\ufffd b"],
    ["stacked accents are limited", `a${"\u0301".repeat(50)}b`, "\u00e1\u0301\u0301\u0301b"],
    ["joined emoji stay whole", "👩‍👩‍👧‍👦 ok", "👩‍👩‍👧‍👦 ok"],
  ])("%s", (_, given, shown) => {
    expect(label(given)).toBe(start + shown);
  });

  test("is truncated at the end of a word", () => {
    expect(label("one two three four five six seven eight nine ten eleven twelve thirteen")).toBe(
      `${start}one two three four five six seven eight nine ten eleven…`,
    );
  });

  test("without words is truncated between characters, and wide ones count twice", () => {
    const truncated = label("漢".repeat(100));
    expect(truncated).toEndWith("漢…");
    expect(Bun.stringWidth(truncated)).toBeWithin(78, 81);
    expect(label("😀".repeat(100)).isWellFormed()).toBe(true);
  });

  test("cannot look like a command", () => {
    const trap = blocked("Quit", 0, {
      title: "Quit",
      gitBranch: "Settings…",
      asks: [ask(0, { tool: "Allow", summary: "Quit" }), ask(0, { id: "2", tool: "Deny", summary: "Quit" })],
      children: [child("a1", { type: "Go to terminal", detail: "Quit" })],
    });
    const menu = createTestMenu([trap]);
    expect(formatSubmenu([trap], trap).slice(0, 5)).toEqual([
      "(Asks · Allow: Quit)",
      "(Asks · Deny: Quit)",
      "(“Quit”)",
      "(Branch Settings…)",
      "(└ Go to terminal · Quit)",
    ]);
    const quits = listEntries(menu.items).filter((entry) => entry.label === "Quit");
    expect(quits.map(({ action }) => action)).toEqual([{ do: "quit" }]);
  });
});
