/** Translates Kimi Code's hook events into beckon's own. Its names of tools are Claude Code's. */
import { asRecord, asText, type JsonRecord, listRecords } from "../../core/json.ts";
import type { AgentEvent, Change } from "../../core/session/event.ts";
import type { EventDetails, EventStamp } from "../agent.ts";
import type { HookMessage } from "../envelope.ts";
import { createPrompt, createTurnEnd, readId, translateHook } from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import {
  createCallStart,
  createPermissionAsk,
  createToolEnd,
  readCommonDetails,
  readToolCall,
  type ToolTable,
} from "../tool-call.ts";

export const translate = (hook: HookMessage, stamp: EventStamp): AgentEvent | null =>
  translateHook(hook, stamp, "kimi", createChange);

function createChange(name: string, payload: JsonRecord): Change {
  switch (name) {
    case "SessionStart":
      return { kind: "session-start", source: readId(payload.source) ?? "startup", model: null };
    case "SessionEnd":
      return { kind: "session-end", reason: readId(payload.reason) };
    case "UserPromptSubmit":
      return createPrompt(readPrompt(payload.prompt));
    case "PreToolUse":
      return createCallStart(readToolCall(table, payload), questionTool);
    case "PostToolUse":
      return createToolEnd(readToolCall(table, payload));
    case "PostToolUseFailure":
      return createToolEnd(readToolCall(table, payload), "failed");
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

const table: ToolTable = {
  tools: {
    Agent: ["Agent", "description"],
    Bash: ["Bash", "command"],
    Edit: ["Edit", "path"],
    Read: ["Read", "path"],
    Write: ["Write", "path"],
  },
  edits: { Edit: "path", Write: "path" },
};

/** The dialog is open 10 to 80 ms before or after it. `id` is that of its PermissionResult, which comes for No and Esc too. */
function createAsk(payload: JsonRecord): Change {
  const call = readToolCall(table, payload);
  const summary = call.summary || toOneLine(asText(payload.action));
  const ask = createPermissionAsk({ ...call, summary }, call.name === planTool ? "plan" : "permission");
  return { ...ask, inputKey: readId(payload.id) };
}

export const readDetails = (payload: JsonRecord): EventDetails => ({
  ...readCommonDetails(readToolCall(table, payload), payload),
  prompt: readPrompt(payload.prompt) || undefined,
  error: asText(payload.error_message) || undefined,
});
