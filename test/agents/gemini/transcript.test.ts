/** What Gemini CLI's hooks and transcript say, where the recordings do not show it. */
import { expect, test } from "bun:test";
import { openEnvelope } from "../../../src/agents/envelope.ts";
import { geminiForwarding } from "../../../src/agents/gemini/forwarding.ts";
import {
  addTranscriptLine,
  createTranscript,
  summarizeTranscript,
} from "../../../src/agents/gemini/transcript.ts";
import { dedupeKey, stripToolOutput, translate } from "../../../src/agents/gemini/translate.ts";

const base = { session_id: "s", cwd: "/home/dev/proj" };

function changeOf(payload: Record<string, unknown>) {
  const hook = openEnvelope({ _meta: {}, payload: { ...base, ...payload } }, "gemini", null);
  return hook && translate(hook, { id: "e", key: "k", at: 1, t: 1 })?.change;
}

const askOf = (details: Record<string, unknown>, message = "Tool requires confirmation") =>
  changeOf({
    hook_event_name: "Notification",
    notification_type: "ToolPermission",
    message,
    details,
  });

test("alerts name the tool as Gemini CLI does, and what it wants", () => {
  expect(askOf({ type: "exec", command: "rm -r build" })).toMatchObject({
    tool: "Shell",
    summary: "rm -r build",
  });
  expect(askOf({ type: "edit", title: "Confirm Write: a.txt", filePath: "/p/a.txt" })).toMatchObject({
    tool: "WriteFile",
    summary: "/p/a.txt",
  });
  expect(askOf({ type: "edit", title: "Confirm Edit: a.txt", filePath: "/p/a.txt" })).toMatchObject({
    tool: "Edit",
  });
  expect(askOf({ type: "mcp", serverName: "github", toolName: "create_issue" })).toMatchObject({
    tool: "mcp__github__create_issue",
  });
  expect(askOf({ type: "exit_plan_mode", planPath: "/p/plan.md" })).toMatchObject({ ask: "plan" });
  expect(askOf({ type: "something new" }, "Tool X requires a look")).toMatchObject({
    ask: "permission",
    tool: null,
    summary: "Tool X requires a look",
  });
});

test("compression before each request to the model changes nothing, and the three ends of a session count once", () => {
  expect(changeOf({ hook_event_name: "PreCompress", trigger: "auto" })).toEqual({ kind: "no-change" });
  const [first, second] = ["10:00:00.100Z", "10:00:00.300Z"].map((time) =>
    dedupeKey({ hook_event_name: "SessionEnd", timestamp: time }),
  );
  expect(first).toBe(second ?? "");
  expect(dedupeKey({ hook_event_name: "AfterAgent" })).toBeNull();
});

test("neither the output of tools nor the files of an edit are kept", () => {
  const payload = {
    tool_response: { llmContent: "secret file" },
    details: {
      type: "edit",
      fileDiff: "secret diff",
      originalContent: "secret old",
      newContent: "secret new",
    },
  };
  const text = JSON.stringify({ ...base, ...payload });
  expect(stripToolOutput(text, 0, payload)).not.toContain("secret");
});

test("a full spool keeps a question, which only the call of its tool announces", () => {
  const call = { hook_event_name: "BeforeTool", tool_name: "ask_user" };
  expect(geminiForwarding.spoolKind(call).kind).toBe("ask");
  expect(geminiForwarding.spoolKind({ ...call, tool_name: "glob" }).kind).toBe("tool");
});

test("each response counts once, although it is written again with its tools and after a cancelled request", () => {
  const transcript = createTranscript();
  const tokens = { input: 100, output: 20, cached: 40, thoughts: 5, tool: 0, total: 125 };
  const response = {
    id: "r1",
    timestamp: "2026-11-16T10:00:00.000Z",
    type: "gemini",
    model: "gemini-3",
    tokens,
  };
  addTranscriptLine(transcript, JSON.stringify(response));
  addTranscriptLine(transcript, JSON.stringify({ ...response, toolCalls: [{ status: "success" }] }));
  addTranscriptLine(transcript, JSON.stringify({ ...response, id: "r9", tokens: null }));
  addTranscriptLine(transcript, JSON.stringify({ $set: { messages: [{ ...response, id: "r8" }] } }));
  addTranscriptLine(transcript, "not JSON");
  expect(summarizeTranscript(transcript)).toEqual({
    model: "gemini-3",
    usage: { tokens: { input: 60, output: 25, cacheRead: 40, cacheWrite: 0 }, costMicros: null },
    context: { used: 125, window: null },
  });
});

test("an API error is shown with its message", () => {
  const transcript = createTranscript();
  const content = '[API Error: {"error":{"message":"quota exceeded","code":429}}]';
  const error = { timestamp: "2026-11-16T10:00:00.000Z", type: "error", content };
  addTranscriptLine(transcript, JSON.stringify(error));
  expect(transcript.lastError).toEqual({ at: Date.parse(error.timestamp), text: "quota exceeded" });
});
