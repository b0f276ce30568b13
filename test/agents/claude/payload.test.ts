import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type * as wire from "../../../src/agents/claude/payload.ts";
import { type HookEventName, hookEventNames, parseHookEvent } from "../../../src/agents/claude/payload.ts";
import { limits } from "../../../src/core/limits.ts";
import { recordedPayloads } from "./recorded-payloads.ts";

/** The CLI's own list, in its order. One type for each name: this does not compile if one is missing. */
const names: { readonly [N in HookEventName]: wire.AnyHookEvent["hook_event_name"] } = {
  PreToolUse: "PreToolUse" satisfies wire.PreToolUseHookEvent["hook_event_name"],
  PostToolUse: "PostToolUse" satisfies wire.PostToolUseHookEvent["hook_event_name"],
  PostToolUseFailure: "PostToolUseFailure" satisfies wire.PostToolUseFailureHookEvent["hook_event_name"],
  PostToolBatch: "PostToolBatch" satisfies wire.PostToolBatchHookEvent["hook_event_name"],
  Notification: "Notification" satisfies wire.NotificationHookEvent["hook_event_name"],
  UserPromptSubmit: "UserPromptSubmit" satisfies wire.UserPromptSubmitHookEvent["hook_event_name"],
  UserPromptExpansion: "UserPromptExpansion" satisfies wire.UserPromptExpansionHookEvent["hook_event_name"],
  SessionStart: "SessionStart" satisfies wire.SessionStartHookEvent["hook_event_name"],
  SessionEnd: "SessionEnd" satisfies wire.SessionEndHookEvent["hook_event_name"],
  Stop: "Stop" satisfies wire.StopHookEvent["hook_event_name"],
  StopFailure: "StopFailure" satisfies wire.StopFailureHookEvent["hook_event_name"],
  SubagentStart: "SubagentStart" satisfies wire.SubagentStartHookEvent["hook_event_name"],
  SubagentStop: "SubagentStop" satisfies wire.SubagentStopHookEvent["hook_event_name"],
  PreCompact: "PreCompact" satisfies wire.PreCompactHookEvent["hook_event_name"],
  PostCompact: "PostCompact" satisfies wire.PostCompactHookEvent["hook_event_name"],
  PreModelSwitch: "PreModelSwitch" satisfies wire.PreModelSwitchHookEvent["hook_event_name"],
  PostModelSwitch: "PostModelSwitch" satisfies wire.PostModelSwitchHookEvent["hook_event_name"],
  PermissionRequest: "PermissionRequest" satisfies wire.PermissionRequestHookEvent["hook_event_name"],
  PermissionDenied: "PermissionDenied" satisfies wire.PermissionDeniedHookEvent["hook_event_name"],
  Setup: "Setup" satisfies wire.SetupHookEvent["hook_event_name"],
  TeammateIdle: "TeammateIdle" satisfies wire.TeammateIdleHookEvent["hook_event_name"],
  TaskCreated: "TaskCreated" satisfies wire.TaskCreatedHookEvent["hook_event_name"],
  TaskCompleted: "TaskCompleted" satisfies wire.TaskCompletedHookEvent["hook_event_name"],
  Elicitation: "Elicitation" satisfies wire.ElicitationHookEvent["hook_event_name"],
  ElicitationResult: "ElicitationResult" satisfies wire.ElicitationResultHookEvent["hook_event_name"],
  ConfigChange: "ConfigChange" satisfies wire.ConfigChangeHookEvent["hook_event_name"],
  WorktreeCreate: "WorktreeCreate" satisfies wire.WorktreeCreateHookEvent["hook_event_name"],
  WorktreeRemove: "WorktreeRemove" satisfies wire.WorktreeRemoveHookEvent["hook_event_name"],
  InstructionsLoaded: "InstructionsLoaded" satisfies wire.InstructionsLoadedHookEvent["hook_event_name"],
  CwdChanged: "CwdChanged" satisfies wire.CwdChangedHookEvent["hook_event_name"],
  FileChanged: "FileChanged" satisfies wire.FileChangedHookEvent["hook_event_name"],
  DirectoryAdded: "DirectoryAdded" satisfies wire.DirectoryAddedHookEvent["hook_event_name"],
  MessageDisplay: "MessageDisplay" satisfies wire.MessageDisplayHookEvent["hook_event_name"],
};

const hook = (name: string, more: object = {}) => ({ session_id: "s1", hook_event_name: name, ...more });
const read = (name: string, more: object = {}) =>
  parseHookEvent(hook(name, more)) as unknown as Record<string, unknown>;

describe("every event of the CLI", () => {
  test("all 33 names are known, and no others", () => {
    expect(hookEventNames).toEqual(Object.values(names));
    expect(hookEventNames).toHaveLength(33);
  });

  test("each recorded payload keeps every field that beckon knows", () => {
    expect(recordedPayloads).toHaveLength(66);
    // Costs and cache hints, which nothing here is about: they may be there or not.
    const ignored = /^(context_tokens|prompt_cache|cache_ttl|estimated_cache|pricing|seconds_since)/;
    for (const { variant, payload } of recordedPayloads) {
      const kept = Object.entries(payload).filter(([key, value]) => value !== null && !ignored.test(key));
      expect({ variant, ...parseHookEvent(payload) }).toMatchObject({ variant, ...Object.fromEntries(kept) });
    }
  });

  test("an event of a newer CLI keeps the common fields", () => {
    expect(
      read("SomethingNew", { cwd: "/p", prompt_id: "p1", tool_name: "Bash", novelty: { a: 1 } }),
    ).toEqual({
      session_id: "s1",
      hook_event_name: "SomethingNew",
      cwd: "/p",
      prompt_id: "p1",
    });
  });

  test.each(["constructor", "__proto__", "toString", "hasOwnProperty"])("%s is not a known event", (name) => {
    expect(read(name, { prompt: "x" })).toEqual(hook(name));
  });
});

describe("a payload without a session or an event is refused", () => {
  const noSession = [
    undefined,
    null,
    "",
    7,
    {},
    ["s1"],
    "s".repeat(limits.maxIdLength + 1),
    "s\n1",
    "\u0000",
  ];
  test.each(noSession.map((id) => [id]))("session_id %j", (session_id) => {
    expect(parseHookEvent({ session_id, hook_event_name: "Stop" })).toBeNull();
  });

  const noName = [undefined, null, "", 7, {}, "e".repeat(limits.maxIdLength + 1), "Sto\u0007p"];
  test.each(noName.map((name) => [name]))("hook_event_name %j", (hook_event_name) => {
    expect(parseHookEvent({ session_id: "s1", hook_event_name })).toBeNull();
  });

  test.each([null, undefined, 3, "Stop", true, [hook("Stop")]].map((body) => [body]))("body %j", (body) => {
    expect(parseHookEvent(body)).toBeNull();
  });
});

describe("a field of the wrong type is dropped, and the rest is kept", () => {
  test.each([
    ["UserPromptSubmit", "prompt", 5],
    ["UserPromptSubmit", "cwd", { path: "/p" }],
    ["PreToolUse", "tool_name", ["Bash"]],
    ["PreToolUse", "tool_input", "touch x"],
    ["PreToolUse", "tool_input", [1]],
    ["PreToolUse", "tool_use_id", ""],
    ["PreToolUse", "agent_id", 12],
    ["Stop", "stop_hook_active", "true"],
    ["Stop", "background_tasks", { id: "a" }],
    ["PostToolUse", "duration_ms", "31"],
    ["PostToolUse", "tool_response", null],
    ["PreCompact", "custom_instructions", null],
    ["SessionStart", "transcript_path", "p".repeat(limits.maxPathLength + 1)],
    ["SessionStart", "transcript_path", "/p/\u0000.jsonl"],
  ])("%s with %s", (name, field, value) => {
    expect(read(name, { [field]: value, permission_mode: "plan" })).toEqual(
      hook(name, { permission_mode: "plan" }),
    );
  });

  test("items of a list that are not objects are dropped", () => {
    expect(read("Stop", { background_tasks: [1, { id: "a" }, null, "b", []] }).background_tasks).toEqual([
      { id: "a" },
    ]);
  });

  test("the subagent of /compact has an empty type, which is not the same as none", () => {
    expect(read("SubagentStop", { agent_type: "" }).agent_type).toBe("");
  });
});

describe("long texts", () => {
  test("are shortened to their limit, never inside of a character", () => {
    const prompt = `${"x".repeat(limits.maxHookTextLength - 1)}😀`;
    expect(read("UserPromptSubmit", { prompt }).prompt).toBe("x".repeat(limits.maxHookTextLength - 1));
    const tool_name = "t".repeat(limits.maxIdLength + 50);
    expect(read("PreToolUse", { tool_name }).tool_name).toBe("t".repeat(limits.maxIdLength));
  });

  test("and long lists too", () => {
    const tasks = Array.from({ length: limits.maxHookItems + 9 }, (_, i) => ({ id: `t${i}` }));
    expect(read("Stop", { background_tasks: tasks }).background_tasks).toEqual(
      tasks.slice(0, limits.maxHookItems),
    );
  });
});

describe("older payloads", () => {
  test("hook_type names the event, and a teammate is a subagent", () => {
    const payload = {
      hook_type: "SubagentStart",
      session_id: "s1",
      agent_name: "worker-01",
      team_name: "my-team",
      agent_type: "explorer",
      parent_session_id: "s0",
      prompt: "look around",
    };
    const { hook_type, ...rest } = payload;
    expect(parseHookEvent(payload)).toEqual({
      ...rest,
      hook_event_name: hook_type,
      agent_id: "my-team/worker-01",
    } as never);
  });

  test("hook_event_name overrides hook_type", () => {
    expect(
      parseHookEvent({ session_id: "s1", hook_event_name: "Stop", hook_type: "SessionEnd" })?.hook_event_name,
    ).toBe("Stop");
  });

  test.each([
    [{ agent_name: "worker" }, "worker"],
    [{ agent_name: "worker", team_name: "" }, "worker"],
    [{ agent_name: "worker", team_name: "t", agent_id: "a1" }, "a1"],
    [{ team_name: "t" }, undefined],
    [{ agent_name: "", team_name: "t" }, undefined],
    [{ agent_name: 4, team_name: "t" }, undefined],
  ])("%j is agent %j", (fields, agentId) => {
    expect(read("PreToolUse", fields).agent_id).toBe(agentId as string);
  });

  test("tool_result is the tool_response", () => {
    expect(read("PostToolUse", { tool_result: { ok: 1 } }).tool_response).toEqual({ ok: 1 });
    expect(read("PostToolUse", { tool_result: "old", tool_response: "new" }).tool_response).toBe("new");
  });

  test.each([
    ["exit code 1", "PostToolUseFailure", "exit code 1"],
    [{ message: "no such file", code: 2 }, "PostToolUseFailure", "no such file"],
    [{ code: 2 }, "PostToolUseFailure", undefined],
    [true, "PostToolUseFailure", undefined],
    [null, "PostToolUse", undefined],
    [false, "PostToolUse", undefined],
    ["", "PostToolUse", undefined],
  ])("PostToolUse with error %j is %s", (error, name, message) => {
    const event = read("PostToolUse", { error, tool_name: "Bash", tool_use_id: "t1" });
    expect(event).toMatchObject({ hook_event_name: name, tool_name: "Bash", tool_use_id: "t1" });
    expect(event.error).toBe(message as string);
  });

  test("level and thinking are kept", () => {
    const fields = { message: "hi", level: "warn", thinking: "hm", extended_thinking: "hmm" };
    expect(read("Notification", fields)).toEqual(hook("Notification", fields));
  });
});

test.each(["", 5, null])("an invalid name (%j) does not hide the older one", (hook_event_name) => {
  expect(parseHookEvent({ hook_event_name, session_id: "s", hook_type: "PreToolUse" })).toMatchObject({
    hook_event_name: "PreToolUse",
  });
});

test("no body makes it throw, and every result has a session and a name", () => {
  const key = fc.oneof(
    fc.constantFrom("session_id", "hook_event_name", "hook_type", "agent_name", "error"),
    fc.string(),
  );
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>(...hookEventNames, undefined, "\ud800", Number.NaN),
  );
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.dictionary(key, value)), (body) => {
      const event = parseHookEvent(body);
      if (event) expect([event.session_id, event.hook_event_name]).not.toContain("");
    }),
    { numRuns: 500 },
  );
});
