/** What the CLI offers to allow for good. What beckon cannot describe is not offered. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { listSuggestions } from "../../../../src/agents/claude/answering/suggestions.ts";

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

describe("a suggestion is described", () => {
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
  ])("%j", (entry, text) => {
    expect(listSuggestions([entry])).toEqual([{ text, entry: entry as never }]);
  });
});

describe("not offered is", () => {
  test.each<[unknown]>([
    [{ type: "replaceRules", rules: [bash("ls")], behavior: "allow", destination: "session" }],
    [{ type: "removeDirectories", directories: ["/a"], destination: "session" }],
    [rules([bash("ls")], "session", "deny")],
    [rules([bash("ls")], "moon")],
    [rules([bash("ls"), { toolName: "Bash", ruleContent: 5 }])],
    [rules([{ ...bash("ls"), except: "x" }])],
    [{ ...rules([bash("ls")]), until: "tomorrow" }],
    [rules([])],
    [{ type: "setMode", mode: "toString", destination: "session" }],
    [{ type: "addDirectories", directories: [], destination: "session" }],
    // Shown as `cp ב א`.
    [rules([bash("cp א ב:*")])],
    [{ type: "addDirectories", directories: ["/א/ב"], destination: "session" }],
    ["x"],
    [null],
  ])("%j", (entry) => {
    expect(listSuggestions([entry])).toEqual([]);
  });

  test("a rule that is too long to be read", () => {
    expect(listSuggestions([rules([bash("x".repeat(200))])])).toEqual([]);
  });
});

test("for any suggestions: nothing throws, the order stays, and each is one of them", () => {
  const anyEntry = fc.oneof(
    fc.constantFrom<unknown>(rules([bash("ls")]), rules([bash("pwd")]), rules([])),
    fc.anything(),
  );
  fc.assert(
    fc.property(fc.oneof(fc.array(anyEntry), fc.anything()), (entries) => {
      let index = -1;
      for (const { entry } of listSuggestions(entries)) {
        index = (entries as unknown[]).indexOf(entry, index + 1);
        expect(index).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});
