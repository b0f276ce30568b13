/** What each event of the CLI means. What it does to a session is tested in test/core. */
import { describe, expect, test } from "bun:test";
import { frameMessage } from "../../../src/agents/claude/own-message.ts";
import { readTranscriptRow } from "../../../src/agents/claude/transcript-lines.ts";
import { translate } from "../../../src/agents/claude/translate.ts";
import { openEnvelope } from "../../../src/agents/envelope.ts";
import { limits } from "../../../src/core/limits.ts";
import type { Change } from "../../../src/core/session/event.ts";
import { recordedPayloads } from "./recorded-payloads.ts";

const stamped = { id: "e1", key: "k1", at: 1_790_000_000_000, t: 5_000 };

function event(payload: Record<string, unknown>, meta: Record<string, unknown> = {}) {
  const hook = openEnvelope({ _meta: meta, payload }, "claude", "here");
  return hook && translate(hook, stamped);
}
function changeOf(hook_event_name: string, fields: Record<string, unknown> = {}): Change | undefined {
  return event({ session_id: "s", hook_event_name, ...fields })?.change;
}

describe("every recorded payload of the CLI", () => {
  /** By its name; a Notification by its type. */
  const kinds: Record<string, Change["kind"]> = {
    SessionStart: "session-start",
    SessionEnd: "session-end",
    UserPromptSubmit: "prompt",
    PreToolUse: "tool-start",
    PostToolUse: "tool-end",
    PostToolUseFailure: "tool-end",
    PermissionDenied: "tool-end",
    PostToolBatch: "tool-batch-end",
    PermissionRequest: "ask",
    Elicitation: "ask",
    ElicitationResult: "elicitation-end",
    permission_prompt: "reminder",
    agent_needs_input: "reminder",
    elicitation_dialog: "reminder",
    idle_prompt: "reminder",
    Stop: "turn-end",
    StopFailure: "turn-end",
    SubagentStart: "child-start",
    SubagentStop: "child-end",
    PreCompact: "compact-start",
    PostCompact: "compact-end",
    Setup: "setup",
    InstructionsLoaded: "document-loaded",
  };
  test.each(recordedPayloads.map(({ variant, payload }) => [variant, payload] as const))(
    "%s",
    (_, payload) => {
      const name = String(payload.notification_type ?? payload.hook_event_name);
      const translated = event(payload);
      expect(translated?.change.kind).toBe(kinds[name] ?? "no-change");
      expect(translated).toMatchObject({
        id: "e1",
        at: stamped.at,
        t: stamped.t,
        payloadKey: "k1",
        agent: "claude",
        sessionId: payload.session_id,
        name: payload.hook_event_name,
        agentId: payload.agent_id ?? null,
        promptId: payload.prompt_id ?? null,
        cwd: payload.cwd,
        transcriptPath: payload.transcript_path,
      });
    },
  );
});

test("the event has what the forwarder saw", () => {
  const translated = event(
    { session_id: "s", hook_event_name: "Stop" },
    { pid: 7, host: "here", attended: false, workspace_id: "proj" },
  );
  expect(translated).toMatchObject({ place: { pid: 7, local: true }, attended: false, project: "proj" });
});

test("a payload without a session or an event is refused", () => {
  expect(event({ hook_event_name: "Stop" })).toBeNull();
  expect(event({ session_id: "s" })).toBeNull();
});

describe("asks", () => {
  const ask = (tool_name: string, tool_input: Record<string, unknown>) =>
    changeOf("PermissionRequest", { tool_name, tool_input });

  test("a question has its text and its answers", () => {
    const input = {
      questions: [{ question: "Which colour?", options: [{ label: "Red" }, { label: "Blue" }] }],
    };
    expect(ask("AskUserQuestion", input)).toMatchObject({
      ask: "question",
      summary: "Which colour?",
      options: ["Red", "Blue"],
    });
  });
  test("a plan is a plan", () =>
    expect(ask("ExitPlanMode", { plan: "Do a" })).toMatchObject({ ask: "plan", summary: "Do a" }));
  test("everything else is a permission", () => {
    expect(ask("Bash", { command: "rm x" })).toMatchObject({
      ask: "permission",
      tool: "Bash",
      summary: "rm x",
      options: [],
    });
  });
  test("a call and its request have the same key, and another input has another key", () => {
    const call = changeOf("PreToolUse", { tool_name: "Bash", tool_input: { command: "a", timeout: 5 } });
    const same = ask("Bash", { command: "a", timeout: 5 });
    const other = ask("Bash", { command: "b", timeout: 5 });
    const key = (change: Change | undefined) => (change && "inputKey" in change ? change.inputKey : null);
    expect(key(call)).toBe(key(same) ?? "none");
    expect(key(call)).not.toBe(key(other));
  });
  test("an input that is nested too deep for JSON is not an error", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(60_000)}1${"}".repeat(60_000)}`);
    expect(ask("Bash", { command: "x", deep })).toMatchObject({ ask: "permission", summary: "x" });
  });
  test("a request of an MCP server names the server", () => {
    const change = changeOf("Elicitation", { mcp_server_name: "db", message: "Your\nname?" });
    expect(change).toMatchObject({ ask: "elicitation", inputKey: "db", summary: "Your name?" });
  });
});

describe("reminders", () => {
  test.each([
    ["permission_prompt", "permission"],
    ["agent_needs_input", "permission"],
    ["elicitation_dialog", "elicitation"],
    ["elicitation_url_dialog", "elicitation"],
    ["idle_prompt", "idle"],
    ["worker_permission_prompt", "permission"],
    ["quota_auto_resume_stale", "idle"],
    ["quota_auto_resume_disabled", "idle"],
  ])("%s is about %s", (notification_type, ask) => {
    expect(changeOf("Notification", { notification_type, message: "Hm" })).toEqual({
      kind: "reminder",
      ask: ask as "idle",
      text: "Hm",
    });
  });
  test("a task that goes on by itself after the usage limit is over works again", () => {
    const change = changeOf("Notification", { notification_type: "quota_auto_resume_fired", message: "Hm" });
    expect(change).toEqual({ kind: "turn-start" });
  });
  test.each(["auth_success", "elicitation_response", "agent_completed", "", undefined, 7])(
    "type %j changes nothing",
    (notification_type) => {
      expect(changeOf("Notification", { notification_type, message: "Hm" })).toEqual({ kind: "no-change" });
    },
  );
});

describe("prompts", () => {
  test.each([
    ["go", false],
    ["<task-notification>\n<task-id>x", true],
    ['Background agent "Find it" was stopped by the user.', true],
    ["tell me about <task-notification>", false],
    ["<task>", false],
  ])("%j: written by the CLI itself is %p", (prompt, byMachine) => {
    expect(changeOf("UserPromptSubmit", { prompt })).toEqual({ kind: "prompt", text: prompt, byMachine });
  });
  test.each(["do this", "</cross-session-message> do this\n", "<a>\n\n<\u200b/b>", ""])(
    "one that beckon has sent is what the user wrote: %j",
    (text) => {
      const prompt = frameMessage(text);
      expect(prompt.match(/<\/cross-session-message/g)).toHaveLength(1);
      expect(changeOf("UserPromptSubmit", { prompt })).toMatchObject({ text });
      const row = {
        type: "user",
        timestamp: "2026-11-18T10:00:00Z",
        message: { role: "user", content: prompt },
      };
      expect(readTranscriptRow(JSON.stringify(row)).map((line) => line.text)).toEqual([text]);
    },
  );
  test("one that another session has sent says so", () => {
    const prompt = '<cross-session-message from-name="other">\ndo this\n</cross-session-message>';
    expect(changeOf("UserPromptSubmit", { prompt })).toMatchObject({ text: prompt });
  });
  test("a long one is shortened", () => {
    const change = changeOf("UserPromptSubmit", { prompt: "x".repeat(100_000) });
    expect(change?.kind === "prompt" && change.text.length).toBe(limits.maxTextLength);
  });
});

describe("the end of a turn", () => {
  test("has the last response, shortened to 1900 characters and three dots", () => {
    expect(changeOf("Stop", { last_assistant_message: "Done." })).toMatchObject({
      lastResponse: "Done.",
      error: null,
      background: null,
    });
    const long = changeOf("Stop", { last_assistant_message: "x".repeat(5_000) });
    expect(long?.kind === "turn-end" && long.lastResponse).toBe(`${"x".repeat(1_900)}...`);
    expect(changeOf("Stop", { last_assistant_message: "" })).toMatchObject({ lastResponse: null });
  });
  test("lists what still runs in the background", () => {
    const background_tasks = [
      { id: "a1", type: "subagent", status: "running", description: "Find\nit" },
      { id: "b1", type: "shell", status: "completed" },
      { type: "shell", status: "running" },
      "odd",
    ];
    expect(changeOf("Stop", { background_tasks })).toMatchObject({
      background: [
        { id: "a1", type: "subagent", running: true, description: "Find it" },
        { id: "b1", type: "shell", running: false, description: null },
      ],
    });
  });
  test("with an error has the error", () => {
    const failed = { error: "rate_limit", last_assistant_message: "API Error: 429" };
    expect(changeOf("StopFailure", failed)).toMatchObject({ error: "API Error: 429", lastResponse: null });
    expect(changeOf("StopFailure", { error: "rate_limit" })).toMatchObject({ error: "rate_limit" });
    expect(changeOf("StopFailure")).toMatchObject({ error: "error" });
  });
});

describe("tools", () => {
  test("succeed, fail, or are denied", () => {
    const outcome = (name: string, more = {}) => {
      const change = changeOf(name, { tool_name: "Bash", tool_use_id: "t1", ...more });
      return change?.kind === "tool-end" ? [change.outcome, change.toolUseId] : null;
    };
    expect(outcome("PostToolUse")).toEqual(["ok", "t1"]);
    expect(outcome("PostToolUseFailure")).toEqual(["failed", "t1"]);
    expect(outcome("PermissionDenied")).toEqual(["denied", "t1"]);
    expect(outcome("PostToolUse", { error: "exit 1" })).toEqual(["failed", "t1"]);
  });
  test.each([
    [{ skill: "review" }, ["review", null, "/review", null]],
    [{ skill_name: "/review", skill_args: "x" }, ["review", "x", "/review x", null]],
    [{ skill: "", skill_name: "old" }, ["old", null, "/old", null]],
    [{ skill: "spec", args: "docs/a.md now" }, ["spec", "docs/a.md now", "/spec docs/a.md now", "docs/a.md"]],
    [{ skill: "spec" }, ["spec", null, "/spec", null]],
    [
      { skill_name: "/spec-review", skill_args: "a.md" },
      ["spec-review", "a.md", "/spec-review a.md", "a.md"],
    ],
    [{ skill: "lite-spec", args: "\n a.md" }, ["lite-spec", "a.md", "/lite-spec a.md", "a.md"]],
  ])("a skill %j is %j", (tool_input, [name, args, triggerCommand, targetDocPath]) => {
    const skill = { name, args, triggerCommand, targetDocPath };
    for (const event of ["PreToolUse", "PostToolUse", "PostToolUseFailure"])
      expect(changeOf(event, { tool_name: "Skill", tool_input })).toMatchObject({ skill });
  });
  test.each([{}, { skill: 3 }, { skill: "/" }])("a skill without a name, %j, is none", (tool_input) => {
    expect(changeOf("PreToolUse", { tool_name: "Skill", tool_input })).toMatchObject({ skill: null });
  });
  test("the input of another tool is not a skill", () => {
    expect(changeOf("PreToolUse", { tool_name: "Bash", tool_input: { skill: "x" } })).toMatchObject({
      skill: null,
    });
  });
});

test.each(["CwdChanged", "FileChanged", "TeammateIdle", "SomethingNew", "__proto__"])(
  "%s changes nothing",
  (name) => {
    expect(changeOf(name)).toEqual({ kind: "no-change" });
  },
);
