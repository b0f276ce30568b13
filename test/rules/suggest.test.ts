import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AskEnding } from "../../src/core/answers/ending.ts";
import { backTest, createMarkCheck } from "../../src/rules/back-test.ts";
import { findFit } from "../../src/rules/fit.ts";
import { type AnsweredAsk, isMarked } from "../../src/rules/past.ts";
import { type ReadRule, readRule } from "../../src/rules/rule.ts";
import { suggestRules } from "../../src/rules/suggest.ts";
import { createTally } from "../../src/rules/tally.ts";
import dangers from "../fixtures/dangers.json";
import optionsThatRun from "../fixtures/dangers-options-that-run.json";
import everyday from "../fixtures/everyday-commands.json";
import moreEveryday from "../fixtures/everyday-commands-2.json";
import attacks from "../fixtures/rule-attacks.json";

const project = "/home/me/shop-web";

function past(command: string, how: AskEnding, more: Partial<AnsweredAsk> = {}): AnsweredAsk {
  return {
    agent: "claude",
    folder: project,
    project: "shop-web",
    subject: { kind: "command", command, cwd: project },
    text: command,
    at: 1_000,
    waitedMs: 30_000,
    how,
    detail: null,
    ...more,
  };
}

const suggest = (asks: readonly AnsweredAsk[], existing: readonly ReadRule[] = []) =>
  suggestRules(asks, existing, createMarkCheck([]));

const repeat = (count: number, command: string, how: AskEnding = "allowed"): AnsweredAsk[] =>
  Array.from({ length: count }, () => past(command, how));

const toRule = ({
  agent,
  project: folder,
  text,
}: {
  agent: string;
  project: string;
  text: string;
}): ReadRule => {
  const rule = readRule({ name: text, agent, project: folder, text, madeAt: 0, madeFrom: "suggestion" });
  if (typeof rule === "string") throw new Error(rule);
  return rule;
};

describe("a suggested rule", () => {
  test("comes after the third like answer, and not before", () => {
    expect(suggest(repeat(2, "npm test"))).toEqual([]);
    expect(suggest(repeat(3, "npm test"))).toMatchObject([
      { text: "Bash(npm test)", project, agent: "claude" },
    ]);
  });

  test("names the options that were allowed, and leaves only files open", () => {
    const asks = [
      past("npm test -- --changed", "allowed"),
      past("npm test src/a", "always"),
      past("npm test", "allowed"),
    ];
    expect(suggest(asks).map(({ text }) => text)).toEqual(["Bash(npm test [--changed] *)"]);
  });

  test("is not made of what was denied once", () => {
    expect(suggest([...repeat(9, "npm test"), past("npm test", "denied")])).toEqual([]);
  });

  test("is not made of answers that no user gave", () => {
    expect(suggest([...repeat(9, "npm test", "rule"), ...repeat(9, "npm test", "dismissed")])).toEqual([]);
  });

  test("is not made of what is marked, or of a shell's tricks", () => {
    for (const command of [
      "git push",
      "rm -rf src",
      "npm test > out.txt",
      "FOO=1 npm test",
      "npm test $X",
      "sudo npm test",
    ])
      expect(suggest(repeat(5, command))).toEqual([]);
  });

  test("is for one project and one agent", () => {
    const asks = [
      past("npm test", "allowed"),
      past("npm test", "allowed", { folder: "/home/me/other" }),
      past("npm test", "allowed", { agent: "codex" }),
    ];
    expect(suggest(asks)).toEqual([]);
  });

  test("is not made again of what a rule allows already", () => {
    const [first] = suggest(repeat(3, "npm test"));
    expect(first && suggest(repeat(3, "npm test"), [toRule(first)])).toEqual([]);
  });

  test("for edits names the folder, and never the project's own files", () => {
    const edit = (path: string): AnsweredAsk =>
      past("", "allowed", { subject: { kind: "edit", paths: [path], cwd: project } });
    const asks = ["a.md", "b.md", "c/d.md"].map((file) => edit(`${project}/docs/guide/${file}`));
    expect(suggest([...asks, edit(`${project}/docs/guide/e.md`)]).map(({ text }) => text)).toEqual([
      "Edit(docs/guide/**)",
    ]);
    expect(suggest(Array.from({ length: 5 }, () => edit(`${project}/package.json`)))).toEqual([]);
    expect(suggest(Array.from({ length: 5 }, () => edit(`${project}/.github/ci.yml`)))).toEqual([]);
  });

  const lines = [
    ...[...dangers, ...optionsThatRun, ...everyday, ...moreEveryday].map(({ command }) => command),
    ...attacks.asks.map(({ command }) => command),
    ...attacks.allows.map(({ command }) => command),
  ];
  const line = fc.oneof(
    fc.constantFrom(...lines),
    fc.constantFrom("npm test", "npm run lint -- --fix", "git status", "make check", "npm test src/a.ts"),
    fc
      .tuple(
        fc.constantFrom("npm test", "git status", ...lines),
        fc.constantFrom(" && ", "; ", " | ", "\n", " "),
        fc.constantFrom(...lines),
      )
      .map((parts) => parts.join("")),
  );
  const answer = fc.oneof(
    { weight: 5, arbitrary: fc.constant<AskEnding>("allowed") },
    { weight: 1, arbitrary: fc.constantFrom<AskEnding>("denied", "always", "dismissed", "rule") },
  );
  const history = fc.array(
    fc
      .tuple(line, answer, fc.integer({ min: 1, max: 5 }))
      .map(([command, how, count]) => repeat(count, command, how)),
    { maxLength: 25 },
  );

  test("never allows what was denied or what is marked, whatever the user answered", () => {
    let suggested = 0;
    fc.assert(
      fc.property(history, line, (groups, next) => {
        const asks = groups.flat();
        const rules = suggest(asks).map(toRule);
        suggested += rules.length;
        // All suggestions together, as a user could accept them.
        const allows = (ask: AnsweredAsk): boolean =>
          ask.subject !== null &&
          typeof findFit(rules, ask.subject, project) !== "string" &&
          !isMarked(ask.subject, project, []);
        expect(asks.filter(({ how }) => how === "denied").filter(allows)).toEqual([]);
        // A line that nobody has answered: the rules may allow it only if it is not marked, by words that were allowed.
        const fit = findFit(rules, { kind: "command", command: next, cwd: project }, project);
        for (const { allowed } of typeof fit === "string" ? [] : fit.rules)
          expect(allowed.kind === "command" && next.includes(allowed.words[0])).toBe(true);
      }),
      { numRuns: 120 },
    );
    expect(suggested).toBeGreaterThan(20);
  });
});

describe("a back-test", () => {
  const rule = toRule({ agent: "claude", project, text: "Bash(npm test *)" });

  test("says what a rule would have answered, what of it was denied, and the wait", () => {
    const asks = [
      past("npm test", "allowed", { waitedMs: 10_000 }),
      past("npm test src/a", "denied", { waitedMs: 50_000, at: 5_000 }),
      past("npm test", "allowed", { waitedMs: 20_000 }),
      past("npm test && git push", "denied"),
      past("npm test --watch", "allowed"),
      past("ls", "allowed"),
      past("npm test", "allowed", { folder: "/home/me/other" }),
    ];
    expect(backTest(rule, [], asks, createMarkCheck([]))).toEqual({
      asks: 7,
      since: 1_000,
      answered: 3,
      allowedByYou: 2,
      deniedByYou: 1,
      savedMs: 80_000,
      medianMs: 20_000,
      longest: { ms: 50_000, at: 5_000 },
      would: [
        { text: "npm test", count: 2 },
        { text: "npm test src/a", count: 1 },
      ],
      stillAsks: [
        { text: "npm test && git push", count: 1, why: "reaches another machine" },
        { text: "npm test --watch", count: 1, why: "an option you have not allowed" },
      ],
    });
  });
});

describe("precedent", () => {
  test("counts what the user answered to the same words, in every project", () => {
    const tally = createTally();
    tally.add(past("npm test", "allowed"));
    tally.add(past("cd app && npm test src/a | tail -5", "allowed", { project: "shop-api", at: 2_000 }));
    tally.add(past("npm test", "denied", { at: 3_000, detail: "not now" }));
    tally.add(past("npm test", "rule", { at: 4_000 }));
    expect(tally.find("npm test")).toEqual({
      label: "npm test",
      allowed: 2,
      denied: 1,
      firstAt: 1_000,
      lastAt: 3_000,
      lastProject: "shop-web",
      lastDenial: { at: 3_000, message: "not now" },
      recent: "yyn",
    });
  });
});
