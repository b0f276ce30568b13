/** NormalizedEvents, of every hook event that the real CLI has sent and of the documented forms. */
import { describe, expect, test } from "bun:test";
import { claude } from "../../src/agents/claude/index.ts";
import { openEnvelope } from "../../src/agents/envelope.ts";
import { projectOf } from "../../src/core/session/session.ts";
import {
  type NormalizedFields,
  normalizedEventTypes,
  normalizeHook,
} from "../../src/streams/normalized-event.ts";
import { readRecordings } from "../replay/recording.ts";

const at = Date.UTC(2026, 10, 17, 9, 30);

function normalize(payload: object, _meta: object = {}) {
  const message = openEnvelope({ provider: "claude", _meta, payload }, "claude", null);
  const event = message && claude.translate(message, { at, t: 0, id: "e1", key: "k" });
  if (!message || !event) throw new Error("not an event");
  return normalizeHook(message, event, claude.readDetails?.(message.payload) ?? {});
}

function normalizeOne(payload: object, _meta: object = {}): NormalizedFields {
  const [row, ...others] = normalize(payload, _meta);
  if (!row || others.length > 0) throw new Error("not one event");
  return row.event;
}

const hook = (hook_event_name: string, more: object = {}) => ({
  session_id: "s1",
  hook_event_name,
  cwd: "/home/me/shop",
  ...more,
});

/** As ingest passes them on: without what tools returned. */
const recordings = readRecordings().flatMap(({ name, rows }) => {
  const payloads = rows.flatMap(({ payload }) => (payload?.hook_event_name ? [payload] : []));
  const stripped = payloads.map((payload) =>
    JSON.parse(claude.stripToolOutput(JSON.stringify(payload), 0, payload)),
  );
  return stripped.length > 0 ? [[name, stripped] as const] : [];
});

test.each(recordings)("no ordinary event of the recording %s is a schema error", (_, payloads) => {
  for (const payload of payloads) {
    const rowsOfPayload = normalize(payload);
    expect(rowsOfPayload.length).toBeGreaterThan(0);
    for (const { event, raw } of rowsOfPayload) {
      expect(event.event_type, JSON.stringify(payload)).not.toBe("schema_error");
      expect(normalizedEventTypes).toContain(event.event_type);
      expect(event.version).toBe("1.1");
      expect(event.ts).toBe("2026-11-17T09:30:00.000Z");
      expect(event.agent_id).toMatch(/^[^/]+\/.+/);
      expect(raw?.length ?? 0).toBeLessThanOrEqual(1_500);
      expect(raw ?? "").not.toContain('"stdout"');
    }
  }
});

describe("the mapping", () => {
  test.each<[string, object, string, object]>([
    ["SubagentStart", { agent_id: "a1", agent_type: "Explore" }, "agent_started", { agent_type: "Explore" }],
    ["SubagentStop", { agent_id: "a1", agent_type: "Explore" }, "agent_stopped", { agent_type: "Explore" }],
    ["Stop", { reason: "done", summary: "all" }, "agent_stopped", { reason: "done", summary: "all" }],
    ["SessionStart", { source: "resume" }, "agent_started", { source: "resume" }],
    ["SessionEnd", { reason: "clear" }, "agent_stopped", { reason: "clear" }],
    [
      "PreToolUse",
      { tool_name: "Bash", tool_input: { command: "ls" } },
      "tool_started",
      { tool_name: "Bash", tool_input: { command: "ls" } },
    ],
    ["PostToolUse", { tool_name: "Bash", tool_input: {} }, "tool_succeeded", { tool_name: "Bash" }],
    [
      "PostToolUse",
      { tool_name: "Bash", error: "boom" },
      "tool_failed",
      { tool_name: "Bash", exit_code: null, error_message: "boom" },
    ],
    [
      "PostToolUseFailure",
      { tool_name: "Bash", error: "Exit code 3\nno" },
      "tool_failed",
      { exit_code: 3, error_message: "Exit code 3\nno" },
    ],
    [
      "Notification",
      { message: "hello", level: "warning" },
      "notification",
      { message: "hello", level: "warning" },
    ],
    ["TaskCreated", { task_id: "7", task_subject: "Write" }, "task_created", { subject: "Write" }],
    ["TaskCompleted", { task_id: "7" }, "task_completed", {}],
    ["heartbeat", {}, "heartbeat", {}],
    ["FutureEvent", {}, "notification", { hook: "FutureEvent" }],
  ])("%s %j is %s", (name, more, type, payload) => {
    const event = normalizeOne(hook(name, more));
    expect(event.event_type).toBe(type as NormalizedFields["event_type"]);
    expect(event.payload).toMatchObject(payload);
    expect(event.id).toBe("e1");
  });

  test.each<[string, string | null, string]>([
    ["in_progress", "task_started", "4"],
    ["completed", "task_completed", "4"],
    ["pending", null, "4"],
  ])("TaskUpdate with the status %s adds %s", (status, type) => {
    const rows = normalize(
      hook("PreToolUse", { tool_name: "TaskUpdate", tool_input: { taskId: "4", status } }),
    );
    expect(rows.map(({ event }) => [event.id, event.event_type, event.task_id])).toEqual([
      ["e1", "tool_started", null],
      ...(type === null ? [] : [["e1:task", type as "task_started", "4"] as const]),
    ] as never);
  });

  test("TaskCreate adds task_created, with the id of the call, or of the event", () => {
    const create = { tool_name: "TaskCreate", tool_input: { subject: "Write it" } };
    const listTasks = (more: object) =>
      normalize(hook("PreToolUse", { ...create, ...more }))
        .filter(({ event }) => event.event_type === "task_created")
        .map(({ event }) => [event.task_id, event.payload]);
    expect(listTasks({ tool_use_id: "t1" })).toEqual([["t1", { subject: "Write it" }]]);
    expect(listTasks({})).toEqual([["e1", { subject: "Write it" }]]);
  });

  test("the result of a subagent is in the payload, and shortened", () => {
    const stop = (result: unknown) =>
      normalizeOne(hook("SubagentStop", { agent_name: "worker-01", team_name: "core", result })).payload;
    expect(stop("all done")).toMatchObject({ agent_name: "worker-01", result: "all done" });
    expect(stop({ files: 3 }).result).toEqual({ files: 3 });
    expect(String(stop("x".repeat(5_000)).result).length).toBeLessThanOrEqual(1_900);
    expect(stop(undefined)).not.toHaveProperty("result");
  });

  test("a failed turn is an error, a failed tool a warning, an unknown event is only for debugging", () => {
    expect(normalizeOne(hook("StopFailure", { error: "rate_limit" })).severity).toBe("error");
    expect(normalizeOne(hook("PostToolUseFailure", { tool_name: "Bash", error: "x" })).severity).toBe("warn");
    expect(normalizeOne(hook("FutureEvent")).severity).toBe("debug");
    expect(normalizeOne(hook("Notification", { message: "x", level: "error" })).severity).toBe("error");
  });

  test("thinking is taken from both fields, and shortened", () => {
    const tool = { tool_name: "Bash", tool_input: {} };
    expect(normalizeOne(hook("PostToolUse", { ...tool, thinking: "hm" })).thinking_text).toBe("hm");
    const long = normalizeOne(hook("Notification", { message: "x", extended_thinking: "y".repeat(5_000) }));
    expect(long.thinking_text).toHaveLength(1_900);
  });
});

describe("names", () => {
  test.each<[object, object, string]>([
    [{}, {}, "shop/leader"],
    [{ agent_id: "a1" }, {}, "shop/a1"],
    [{ team_name: "core" }, {}, "core/leader"],
    [{ team_name: "core", agent_name: "worker-1" }, {}, "core/worker-1"],
    [{ agent_name: "worker-1" }, { workspace_id: "site" }, "site/worker-1"],
  ])("%j %j is %s", (more, meta, agent_id) => {
    expect(normalizeOne(hook("SubagentStart", more), meta).agent_id).toBe(agent_id);
  });

  test("a missing workspace or terminal has a fallback", () => {
    const bare = normalizeOne({ session_id: "s1", hook_event_name: "Stop" });
    expect(bare).toMatchObject({ workspace_id: "unknown", terminal_session_id: "unknown" });
    expect(normalizeOne(hook("Stop"), { tty: "/dev/pts/3" }).terminal_session_id).toBe("/dev/pts/3");
    const named = normalizeOne(hook("Stop"), { tty: "/dev/pts/3", terminal_session_id: "t9" });
    expect(named.terminal_session_id).toBe("t9");
  });

  test("a session in the root folder has the workspace that its asks and the session list have", () => {
    const { workspace_id } = normalizeOne(hook("UserPromptSubmit", { prompt: "x", cwd: "/" }));
    expect(workspace_id).toBe(projectOf({ project: null, firstCwd: "/" }) ?? "");
    expect(workspace_id).toBe("/");
  });
});

test("a tool event without the tool's name is a schema error that says what is missing", () => {
  const event = normalizeOne(hook("PreToolUse"));
  expect(event).toMatchObject({
    event_type: "schema_error",
    severity: "error",
    payload: { event_type: "tool_started", missing: ["payload.tool_name"] },
  });
});

test("whatever a payload contains, raw is small and valid JSON", () => {
  let deep: unknown = "end";
  for (let n = 0; n < 5_000; n++) deep = { deep };
  for (const value of [
    "x".repeat(1e6),
    "\ud800",
    Array(1e4).fill("y"),
    deep,
    { ["k".repeat(1e5)]: 1 },
    "\u202e<script>",
  ]) {
    const [row] = normalize(hook("PreToolUse", { tool_name: "Bash", tool_input: { value } }));
    expect(row?.raw?.length ?? 0).toBeLessThanOrEqual(1_500);
    JSON.parse(row?.raw ?? "");
    expect(JSON.stringify(row?.event).length).toBeLessThan(10_000);
  }
});
