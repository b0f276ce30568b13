import { describe, expect, test } from "bun:test";
import { eventsKnownTo, hooksFor, hookTable } from "../../../src/agents/claude/hooks.ts";
import { hookEventNames } from "../../../src/agents/claude/payload.ts";

/** Valid in every version that was tried. */
const safe = [
  "Notification",
  "PermissionRequest",
  "PostToolUse",
  "PostToolUseFailure",
  "PreCompact",
  "PreToolUse",
  "SessionEnd",
  "SessionStart",
  "Stop",
  "SubagentStart",
  "SubagentStop",
  "UserPromptSubmit",
];

const eventsFor = (version: string | null) => hooksFor(version).map(({ event }) => event as string);

describe("the table", () => {
  test("has each of the 33 events once, registered or not", () => {
    const listed = [...hookTable.register, ...hookTable.never, ...hookTable.unused].map(({ event }) => event);
    expect(listed.toSorted()).toEqual(hookEventNames.toSorted());
  });

  test("registers no event that would break or flood a session", () => {
    expect(hookTable.never.map(({ event }) => event)).toEqual(["WorktreeCreate", "MessageDisplay"]);
    for (const { why } of [...hookTable.never, ...hookTable.unused]) expect(why).toMatch(/\w{3,} \w+/);
  });

  test("each row is a hook that the CLI accepts", () => {
    for (const { timeout, async, matcher, since, replacedByStatusFile, ...rest } of hookTable.register) {
      expect(timeout).toBeGreaterThan(0);
      expect(typeof async).toBe("boolean");
      expect(["string", "undefined"]).toContain(typeof matcher);
      expect(since ?? "1.0.0").toMatch(/^\d+\.\d+\.\d+$/);
      expect(["boolean", "undefined"]).toContain(typeof replacedByStatusFile);
      expect(Object.keys(rest)).toEqual(["event"]);
    }
  });

  test("only a hook that decides, and the end of a session, make the CLI wait", () => {
    const waits = hookTable.register.filter((row) => !row.async).map(({ event }) => event);
    expect(waits).toEqual(["SessionEnd", "PermissionRequest"]);
    const longest = hookTable.register.toSorted((a, b) => b.timeout - a.timeout)[0];
    expect(longest?.event).toBe("PermissionRequest");
  });
});

describe("hooks for a version of the CLI", () => {
  test.each([null, "", "unknown", "2.1", "next"].map((v) => [v]))(
    "%j is unknown: only safe events, and no async",
    (v) => {
      expect(eventsFor(v).toSorted()).toEqual(safe);
      expect(hooksFor(v).some((hook) => hook.async)).toBe(false);
    },
  );

  test("2.0.76 gets the safe events", () => {
    expect(eventsFor("2.0.76").toSorted()).toEqual(safe);
  });

  test("2.1.325 gets the whole table, except for what its status file reports", () => {
    const replaced = ["PostToolBatch", "PreCompact", "PostCompact"];
    const names = hookTable.register.map(({ event }) => event as string);
    expect(eventsFor("2.1.325")).toEqual(names.filter((event) => !replaced.includes(event)));
    for (const event of replaced) {
      expect(eventsFor("2.1.199")).toContain(event);
      expect(eventsFor("2.1.200")).not.toContain(event);
    }
  });

  test("a replaced event is still known to the CLI, so that doctor does not call it too new", () => {
    expect(eventsKnownTo("2.1.325")).toEqual(new Set(hookTable.register.map(({ event }) => event)));
    expect(eventsKnownTo("2.1.100").has("PostToolBatch")).toBe(false);
    expect([...eventsKnownTo(null)].toSorted()).toEqual(safe);
  });

  test.each([
    ["StopFailure", "2.1.77", "2.1.78"],
    ["PostToolBatch", "2.1.117", "2.1.118"],
    ["PermissionDenied", "2.1.87", "2.1.88"],
    ["PostCompact", "2.1.75", "2.1.76"],
    ["Setup", "2.1.9", "2.1.10"],
    ["PermissionRequest", "2.0.44", "2.0.45"],
    ["PostToolUseFailure", "1.0.128", "2.0.56"],
    ["StopFailure", "2.0.900", "3.0.0"],
    ["StopFailure", "2.1.78-beta.1", "2.1.79-beta.1"],
  ])("%s is not for %s, but for %s", (event, without, having) => {
    expect(eventsFor(without)).not.toContain(event);
    expect(eventsFor(having)).toContain(event);
  });

  test.each(["2.1.78 (Claude Code)", "v2.1.78", " 2.1.78\n"])(
    "the version may be written as %j",
    (version) => {
      expect(eventsFor(version)).toEqual(eventsFor("2.1.78"));
    },
  );

  test("without a shell run only async hooks, from 2.1.139 on: the CLI shows if another one cannot start", () => {
    expect(hooksFor("2.1.138").some((hook) => hook.canExec)).toBe(false);
    for (const { async, canExec } of hooksFor("2.1.139")) expect(canExec).toBe(async);
  });

  test("no async hook before 2.1.75, where it leaves lines in the user's terminal", () => {
    expect(hooksFor("2.1.74").some((hook) => hook.async)).toBe(false);
    expect(hooksFor("2.1.75").find(({ event }) => event === "PreToolUse")?.async).toBe(true);
    expect(hooksFor("2.1.75").find(({ event }) => event === "PermissionRequest")?.async).toBe(false);
  });
});
