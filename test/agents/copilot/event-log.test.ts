/** What Copilot CLI's hooks and its log of events say, where the recordings do not show it. */
import { expect, test } from "bun:test";
import { addLogLine, createEventLog, summarizeLog } from "../../../src/agents/copilot/event-log.ts";
import { copilotSetup } from "../../../src/agents/copilot/setup/index.ts";
import { translate } from "../../../src/agents/copilot/translate.ts";
import { openEnvelope } from "../../../src/agents/envelope.ts";

const timestamp = "2026-11-16T10:00:00.000Z";

function read(...lines: readonly Record<string, unknown>[]) {
  const log = createEventLog();
  for (const line of lines) addLogLine(log, JSON.stringify({ ...line, timestamp }));
  return log;
}

const request = (requestId: string, permissionRequest: object) => ({
  type: "permission.requested",
  data: { requestId, permissionRequest },
});
const complete = (requestId: string, kind: string) => ({
  type: "permission.completed",
  data: { requestId, result: { kind } },
});

test("alerts name what is asked for", () => {
  const asks = read(
    request("1", { kind: "shell", fullCommandText: "make install" }),
    request("2", { kind: "write", fileName: "/p/a.txt" }),
    request("3", { kind: "url", url: "https://example.com" }),
    request("4", {
      kind: "mcp",
      serverName: "github",
      toolName: "create_issue",
      toolTitle: "Create an issue",
    }),
    request("5", { kind: "something new", toolName: "paint", intention: "paint it" }),
  ).events.map(({ change }) => change.kind === "ask" && `${change.tool}: ${change.summary}`);
  expect(asks).toEqual([
    "Bash: make install",
    "Edit: /p/a.txt",
    "WebFetch: https://example.com",
    "mcp__github__create_issue: Create an issue",
    "paint: paint it",
  ]);
});

test("a notification names the tool as the request does, so that an alert keeps its text", () => {
  const askOf = (message: string) => {
    const payload = {
      sessionId: "s",
      hook_event_name: "Notification",
      notification_type: "permission_prompt",
      message,
    };
    const hook = openEnvelope({ _meta: {}, payload }, "copilot", null);
    const change = hook && translate(hook, { id: "e", key: "k", at: 1, t: 1 })?.change;
    return change?.kind === "ask" && [change.tool, change.summary];
  };
  expect(askOf("Run command: touch a: b")).toEqual(["Bash", "touch a: b"]);
  expect(askOf("Write file: /p/a.txt")).toEqual(["Edit", "/p/a.txt"]);
  expect(askOf("Something: new")).toEqual([null, "Something: new"]);
});

test("a plan waits until its call ends; a request that a hook answers opens nothing", () => {
  const call = { toolCallId: "c", toolName: "exit_plan_mode", arguments: { summary: "Do it" } };
  const start = { type: "tool.execution_start", data: call };
  const end = { type: "tool.execution_complete", data: { toolCallId: "c", success: true } };
  const kinds = (...lines: readonly Record<string, unknown>[]) =>
    read(...lines).events.map(({ change }) => change.kind);
  expect(read(start).events[0]?.change).toMatchObject({ kind: "ask", ask: "plan", summary: "Do it" });
  expect(kinds(start, end)).toEqual(["ask", "ask-ended", "ask-ended"]);
  const answered = request("1", { kind: "shell", fullCommandText: "a" });
  expect(kinds({ ...answered, data: { ...answered.data, resolvedByHook: true } })).toEqual([]);
});

test("one of two requests that is answered leaves the other open; the last ends what a notification opened", () => {
  const log = read(
    request("1", { kind: "shell", fullCommandText: "a" }),
    request("2", { kind: "shell", fullCommandText: "b" }),
    complete("1", "approved"),
    complete("2", "denied-interactively-by-user"),
    complete("9", "approved"),
  );
  expect(log.events.slice(2).map(({ change }) => change)).toEqual([
    { kind: "ask-ended", inputKey: "1", outcome: "allowed" },
    { kind: "ask-ended", inputKey: "2", outcome: "denied" },
    { kind: "ask-ended", inputKey: null, outcome: "denied" },
  ]);
});

test("tokens, context and model come from the usage records; those of a subagent count, but are not the session's context", () => {
  const usage = {
    inputTokens: 100,
    outputTokens: 20,
    cacheReadTokens: 30,
    maxPromptTokens: 64_000,
    model: "gpt-4.1",
  };
  const record = { type: "session.usage_record", data: { usage } };
  const other = { type: "session.model_change", data: { newModel: "a subagent's" }, agentId: "a" };
  const log = read(record, other, {
    ...record,
    agentId: "a",
    data: { usage: { ...usage, inputTokens: 900 } },
  });
  expect(summarizeLog(log)).toEqual({
    model: "gpt-4.1",
    usage: { tokens: { input: 940, output: 40, cacheRead: 60, cacheWrite: 0 }, costMicros: null },
    context: { used: 120, window: 64_000 },
  });
});

test("a subagent's events belong to its session", () => {
  const payload = {
    session_id: "agent-1",
    agent_id: "agent-1",
    parent_agent_id: "agent-0",
    transcript_path: "/home/dev/.copilot/session-state/main-1/events.jsonl",
    hook_event_name: "Stop",
  };
  const hook = openEnvelope({ _meta: {}, payload }, "copilot", null);
  const event = hook && translate(hook, { id: "e", key: "k", at: 1, t: 1 });
  expect(event).toMatchObject({ sessionId: "main-1", agentId: "agent-1", change: { kind: "no-change" } });
});

test("a subagent is listed from its first hook, which does not name its event, with the name from the log", () => {
  const ids = { agent_id: "agent-1", agent_type: "general-purpose", parent_agent_id: "main-1" };
  const start = { sessionId: "main-1", agentName: "general-purpose", ...ids };
  const prompt = { session_id: "agent-1", hook_event_name: "UserPromptSubmit", prompt: "Help", ...ids };
  for (const payload of [start, prompt]) {
    const hook = openEnvelope({ _meta: {}, payload }, "copilot", null);
    expect(hook && translate(hook, { id: "e", key: "k", at: 1, t: 1 })).toMatchObject({
      sessionId: "main-1",
      agentId: "agent-1",
      change: { kind: "child-start", type: "general-purpose" },
    });
  }
  const data = { agentType: "general-purpose", agentDisplayName: "helper" };
  const log = read(
    { type: "subagent.started", data, agentId: "agent-1" },
    { type: "subagent.completed", data, agentId: "agent-1" },
  );
  expect(log.events).toMatchObject([
    {
      agentId: "agent-1",
      agentType: "general-purpose",
      agentName: "helper",
      change: { kind: "child-start" },
    },
    { agentId: "agent-1", change: { kind: "child-end" } },
  ]);
});

test("no hook is registered whose failure would refuse a tool", () => {
  const options = { version: null, binary: "/opt/beckon", home: null, platform: "linux" } as const;
  const { version, hooks } = JSON.parse(copilotSetup.createRegistration(options).add(null));
  expect(version).toBe(1);
  expect(Object.keys(hooks).filter((name) => /^(?:pre|permission)/i.test(name))).toEqual([]);
  for (const [hook] of Object.values(hooks) as [{ bash: string }][]) expect(hook.bash).toEndWith("; exit 0");
});
