/** What the CLI offers to allow for good, in words; what cannot be said is not offered. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { alwaysInWords, offersOf } from "../../../../src/agents/claude/answering/suggestions.ts";

const rules = (list: unknown, destination = "localSettings", behavior = "allow") => ({
  type: "addRules",
  rules: list,
  behavior,
  destination,
});
const bash = (ruleContent?: string) => ({
  toolName: "Bash",
  ...(ruleContent === undefined ? {} : { ruleContent }),
});

describe("a suggestion in words", () => {
  test.each<[object, string]>([
    [rules([bash("npm test")]), "Always allow npm test in this project, for you"],
    [rules([bash("npm run *")], "projectSettings"), "Always allow npm run * in this project, for everybody"],
    [
      rules([bash("ls"), bash("pwd"), bash("id")], "userSettings"),
      "Always allow ls, pwd and id in all your projects",
    ],
    [rules([bash()], "session"), "Always allow every command in this session"],
    [rules([bash("*")], "session"), "Always allow every command (*) in this session"],
    [rules([bash(":*")], "session"), "Always allow every command (:*) in this session"],
    [
      rules([{ toolName: "WebFetch", ruleContent: "domain:a.org" }]),
      "Always allow WebFetch of domain:a.org in this project, for you",
    ],
    [
      rules([{ toolName: "mcp__github__create_issue" }]),
      "Always allow every create_issue (github) in this project, for you",
    ],
    [rules([bash("ls \u202e")]), "Always allow ls ⟨U+202E⟩ in this project, for you"],
    [{ type: "setMode", mode: "acceptEdits", destination: "session" }, "Allow all edits in this session"],
    [
      { type: "setMode", mode: "bypassPermissions", destination: "session" },
      "Allow everything and never ask in this session",
    ],
    [
      { type: "addDirectories", directories: ["/a", "/b"], destination: "session" },
      "Let it work in /a and /b too, in this session",
    ],
  ])("%j", (suggestion, words) => {
    expect(alwaysInWords(suggestion)).toBe(words);
    expect(offersOf([suggestion])).toEqual([{ words, suggestion: suggestion as never }]);
  });
});

describe("what is not offered", () => {
  test.each<[unknown, string]>([
    [
      { type: "replaceRules", rules: [bash("ls")], behavior: "allow", destination: "session" },
      "replaceRules",
    ],
    [{ type: "removeDirectories", directories: ["/a"], destination: "session" }, "removeDirectories"],
    [rules([bash("ls")], "session", "deny"), "addRules"],
    [rules([bash("ls")], "moon"), "addRules"],
    [rules([bash("ls"), { toolName: "Bash", ruleContent: 5 }]), "addRules"],
    [rules([{ ...bash("ls"), except: "x" }]), "addRules"],
    [{ ...rules([bash("ls")]), until: "tomorrow" }, "addRules"],
    [rules([]), "addRules"],
    [{ type: "setMode", mode: "toString", destination: "session" }, "setMode"],
    [{ type: "addDirectories", directories: [], destination: "session" }, "addDirectories"],
    ["x", "no type"],
    [null, "no type"],
  ])("%j", (suggestion, type) => {
    expect(alwaysInWords(suggestion)).toBe(`A lasting change that beckon cannot put in words (${type})`);
    expect(offersOf([suggestion])).toEqual([]);
  });
  test("a rule that is too long to be read", () => {
    expect(offersOf([rules([bash("x".repeat(200))])])).toEqual([]);
  });
});

test("for any suggestions: nothing throws, the order stays, and each is one of them", () => {
  const some = fc.oneof(
    fc.constantFrom<unknown>(rules([bash("ls")]), rules([bash("pwd")]), rules([])),
    fc.anything(),
  );
  fc.assert(
    fc.property(fc.oneof(fc.array(some), fc.anything()), (given) => {
      let at = -1;
      for (const { suggestion, words } of offersOf(given)) {
        at = (given as unknown[]).indexOf(suggestion, at + 1);
        expect(at).toBeGreaterThanOrEqual(0);
        expect(words).toBe(alwaysInWords(suggestion));
      }
    }),
  );
});
