/**
 * Translates Grok Build's hook events into beckon's own. Nothing else gives them a meaning. Its payloads have most fields twice, with
 * Grok's names and with Claude Code's.
 */
import { asText, type JsonRecord } from "../../core/json.ts";
import type { AgentEvent, Change } from "../../core/session/event.ts";
import type { EventDetails, EventStamp } from "../agent.ts";
import type { HookMessage } from "../envelope.ts";
import { createHookChange, findResponse } from "../hook-changes.ts";
import { readId, stampByPayload, translateHook } from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import {
  createCallStart,
  createPermissionAsk,
  readCommonDetails,
  readToolCall,
  type ToolTable,
} from "../tool-call.ts";

export const translate = (hook: HookMessage, stamp: EventStamp): AgentEvent | null =>
  translateHook(hook, stampByPayload(hook, stamp), "grok", createChange, {
    permissionMode: readId(hook.payload.permission_mode),
    // A subagent has a session of its own, which ends with it. Nobody waits for its turns.
    ...(isSubagentsOwn(hook.payload) ? { attended: false } : {}),
  });

/** The main session's hooks about a subagent name it too, by its id. */
const isSubagentsOwn = ({ subagentType, subagentId }: JsonRecord): boolean =>
  readId(subagentType) !== null && subagentId === undefined;

function createChange(name: string, payload: JsonRecord): Change {
  const readCall = () => readToolCall(table, payload);
  switch (name) {
    case "PreToolUse":
      // The notification of a question says nothing about it, and follows its call at once.
      return createCallStart(readCall(), questionTool);
    case "Notification":
      return createAsk(payload);
    // No in a dialog, Ctrl-C in a dialog or in a turn.
    case "StopCancelled":
      return { kind: "interrupted" };
    default:
      // /exit sends one more Stop, after SessionEnd.
      if (name === "Stop" && payload.reason === "shutdown") return { kind: "no-change" };
      return createHookChange(name, payload, readCall);
  }
}

export const questionTool = "ask_user_question";

const table: ToolTable = {
  tools: {
    run_terminal_command: ["Bash", "command"],
    spawn_subagent: ["Agent", "description"],
    read_file: ["Read", "target_file"],
    search_replace: ["Edit", "file_path"],
    web_search: ["WebSearch", "query"],
    write: ["Write", "file_path"],
  },
  edits: { search_replace: "file_path", write: "file_path" },
};

/** It names no call: the ask belongs to the call that runs. */
function createAsk({ notificationType, message }: JsonRecord): Change {
  if (notificationType !== "permission_prompt") return { kind: "no-change" };
  // What it says is the same for every tool: the call's own text is better.
  const isGeneric = message === "Tool permission requested";
  const summary = isGeneric ? "" : toOneLine(asText(message));
  return { kind: "ask", ask: "permission", tool: null, inputKey: null, summary, options: [] };
}

/** The request for the user's permission that this call waits for. */
export const createCallAsk = (payload: JsonRecord): Change =>
  createPermissionAsk(readToolCall(table, payload));

export const readDetails = (payload: JsonRecord): EventDetails => ({
  ...readCommonDetails(readToolCall(table, payload), payload),
  message: findResponse(payload) || asText(payload.message) || undefined,
  error: asText(payload.errorDetails) || undefined,
  isNotification: payload.hook_event_name === "Notification" || undefined,
});
