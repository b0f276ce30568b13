/** Translates Kimi Code's hook events into beckon's own. Its names of tools are Claude Code's. */
import { asRecord, asText, type JsonRecord, listRecords } from "../../core/json.ts";
import type { AgentEvent, Change } from "../../core/session/event.ts";
import { hashJson } from "../../core/text/json-text.ts";
import type { EventDetails, EventStamp } from "../agent.ts";
import { type EditTools, readEditPaths } from "../edits.ts";
import type { HookMessage } from "../envelope.ts";
import {
  createHookEvent,
  createPrompt,
  createTurnEnd,
  findSummary,
  readId,
  readPath,
} from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import { summarizeQuestions } from "../questions.ts";

/** null if the payload names no session or no event. */
export function translate(hook: HookMessage, stamp: EventStamp): AgentEvent | null {
  const { payload } = hook;
  const [sessionId, name] = [readId(payload.session_id), readId(payload.hook_event_name)];
  if (sessionId === null || name === null) return null;
  const subject = { agent: "kimi", sessionId, name, cwd: readPath(payload.cwd) };
  return createHookEvent(hook, stamp, subject, createChange(name, payload));
}

function createChange(name: string, payload: JsonRecord): Change {
  switch (name) {
    case "SessionStart":
      return { kind: "session-start", source: readId(payload.source) ?? "startup", model: null };
    case "SessionEnd":
      return { kind: "session-end", reason: readId(payload.reason) };
    case "UserPromptSubmit":
      return createPrompt(readPrompt(payload.prompt));
    case "PreToolUse":
      return createToolStart(payload);
    case "PostToolUse":
    case "PostToolUseFailure":
      return createToolEnd(payload, name === "PostToolUse" ? "ok" : "failed");
    case "PermissionRequest":
      return createAsk(payload);
    case "PermissionResult": {
      const outcome = readDecision(payload) === "approved" ? "allowed" : "denied";
      return { kind: "ask-ended", inputKey: readId(payload.id), outcome };
    }
    case "Interrupt":
      return { kind: "interrupted" };
    case "StopFailure":
      return createTurnEnd({
        error: toOneLine(asText(payload.error_message) || asText(payload.error_type)) || "error",
      });
    case "PreCompact":
      return { kind: "compact-start" };
    case "PostCompact":
      return { kind: "compact-end" };
    // The Stop of a subagent looks like that of the turn: the watcher tells them apart.
    default:
      return { kind: "no-change" };
  }
}

const readDecision = ({ decision, result }: JsonRecord): string =>
  asText(decision) || asText(asRecord(result).decision) || asText(result);

const readPrompt = (prompt: unknown): string =>
  typeof prompt === "string"
    ? prompt
    : listRecords(prompt)
        .map(({ text }) => asText(text))
        .join("\n");

const questionTool = "AskUserQuestion";
const planTool = "ExitPlanMode";

/** The field of a tool's input that describes the call best. */
const summaryFields: Readonly<Record<string, string>> = {
  Agent: "description",
  Bash: "command",
  Edit: "path",
  Read: "path",
  Write: "path",
};

const editTools: EditTools = { Edit: "path", Write: "path" };

function readCall({ tool_name, tool_input, tool_call_id }: JsonRecord) {
  const tool = readId(tool_name) ?? "";
  const input = asRecord(tool_input);
  const field = Object.hasOwn(summaryFields, tool) ? summaryFields[tool] : undefined;
  return { tool, toolUseId: readId(tool_call_id), input, summary: toOneLine(findSummary(input, field)) };
}

/** A question has no request of its own: its call asks. */
function createToolStart(payload: JsonRecord): Change {
  const { tool, toolUseId, input, summary } = readCall(payload);
  const inputKey = hashJson(input);
  if (tool === questionTool) {
    const call = toolUseId === null ? {} : { toolUseId };
    return { kind: "ask", ask: "question", tool, inputKey, ...call, ...summarizeQuestions(input.questions) };
  }
  const call = { kind: "tool-start", tool, toolUseId, inputKey, summary, skill: null } as const;
  return { ...call, ...readEditPaths(editTools, tool, input) };
}

function createToolEnd(payload: JsonRecord, outcome: "ok" | "failed"): Change {
  const { tool, toolUseId, input } = readCall(payload);
  const edits = outcome === "ok" ? readEditPaths(editTools, tool, input) : {};
  return { kind: "tool-end", tool, toolUseId, outcome, skill: null, ...edits };
}

/** The dialog is open 10 to 80 ms before or after it. `id` is that of its PermissionResult, which comes for No and Esc too. */
function createAsk(payload: JsonRecord): Change {
  const { tool, toolUseId, summary } = readCall(payload);
  const ask = tool === planTool ? "plan" : "permission";
  const call = toolUseId === null ? {} : { toolUseId };
  const shown = summary || toOneLine(asText(payload.action));
  return { kind: "ask", ask, tool, inputKey: readId(payload.id), ...call, summary: shown, options: [] };
}

export function readDetails(payload: JsonRecord): EventDetails {
  const { tool, input } = readCall(payload);
  return {
    ...(tool === "" ? {} : { tool: { name: tool, input } }),
    prompt: readPrompt(payload.prompt) || undefined,
    error: asText(payload.error_message) || undefined,
    reason: asText(payload.reason) || asText(payload.source) || undefined,
  };
}
