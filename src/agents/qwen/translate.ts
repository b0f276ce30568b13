/** Translates Qwen Code's hook events into beckon's own. Nothing else gives them a meaning. */
import { asText, type JsonRecord, listRecords } from "../../core/json.ts";
import type { AgentEvent, Change } from "../../core/session/event.ts";
import type { EventDetails, EventStamp, GuardRequest } from "../agent.ts";
import type { EditTools } from "../edits.ts";
import type { HookMessage } from "../envelope.ts";
import {
  createPrompt,
  createTurnEnd,
  readEdit,
  readHookRequest,
  readId,
  readTrimmedResponse,
  translateHook,
} from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import {
  createPermissionAsk,
  createQuestion,
  createToolStart,
  readCommonDetails,
  readToolCall,
  type SentCall,
  type ToolTable,
} from "../tool-call.ts";

export const translate = (hook: HookMessage, stamp: EventStamp): AgentEvent | null =>
  translateHook(hook, stamp, "qwen", createChange, {
    agentId: readId(hook.payload.agent_id),
    agentType: readId(hook.payload.agent_type),
    permissionMode: readId(hook.payload.permission_mode),
  });

function createChange(name: string, payload: JsonRecord): Change {
  switch (name) {
    case "SessionStart":
      return {
        kind: "session-start",
        source: readId(payload.source) ?? "startup",
        model: readId(payload.model),
      };
    case "SessionEnd":
      return { kind: "session-end", reason: readId(payload.reason) };
    case "UserPromptSubmit":
      // Again with an empty prompt after each batch of tools (39 of 39).
      return payload.prompt === "" ? { kind: "turn-start" } : createPrompt(payload.prompt);
    case "PermissionRequest":
      return createAsk(payload);
    // After the approval: the watcher ends what was asked.
    case "PreToolUse":
      return createToolStart(readCall(payload));
    case "PostToolBatch": {
      const calls = listRecords(payload.tool_calls);
      // No, or Esc, in a dialog ends the turn.
      return calls.some(({ status }) => status === "cancelled")
        ? { kind: "interrupted" }
        : { kind: "tool-batch-end" };
    }
    case "Notification":
      // At once at the end of every turn, and the only sign of Esc while the model streams.
      return payload.notification_type === "idle_prompt" ? { kind: "interrupted" } : { kind: "no-change" };
    case "Stop":
      return createTurnEnd({ lastResponse: readTrimmedResponse(payload.last_assistant_message) });
    case "StopFailure":
      return createTurnEnd({
        error: toOneLine(asText(payload.error_details) || asText(payload.error)) || "error",
      });
    case "SubagentStart":
      return { kind: "child-start", type: readId(payload.agent_type) ?? "" };
    case "SubagentStop":
      return { kind: "child-end", transcriptPath: null };
    case "PreCompact":
      return { kind: "compact-start" };
    case "PostCompact":
      return { kind: "compact-end" };
    default:
      return { kind: "no-change" };
  }
}

const questionTool = "ask_user_question";
const planTool = "exit_plan_mode";

/** The tools with which Qwen Code changes files. */
export const editTools: EditTools = { edit: "file_path", write_file: "file_path" };

const table: ToolTable = {
  tools: {
    agent: ["Agent", "description"],
    edit: ["Edit", "file_path"],
    exit_plan_mode: ["ExitPlanMode", "plan"],
    glob: ["Glob", "pattern"],
    grep_search: ["Grep", "pattern"],
    list_directory: ["LS", "path"],
    read_file: ["Read", "file_path"],
    run_shell_command: ["Bash", "command"],
    skill: ["Skill", "skill"],
    todo_write: ["TodoWrite"],
    web_fetch: ["WebFetch", "url"],
    web_search: ["WebSearch", "query"],
    write_file: ["Write", "file_path"],
  },
  edits: editTools,
};

export const readCall = (payload: JsonRecord): SentCall => readToolCall(table, payload);

/** A dialog follows 66 to 593 ms later. The request names no call. */
function createAsk(payload: JsonRecord): Change {
  const call = readCall(payload);
  if (call.name === questionTool) return createQuestion(call);
  return createPermissionAsk(call, call.name === planTool ? "plan" : "permission");
}

export const readGuardRequest = (payload: JsonRecord): GuardRequest | null =>
  readHookRequest(payload, "PreToolUse", (tool, input) => readEdit(editTools, tool, input));

export const readDetails = (payload: JsonRecord): EventDetails => ({
  ...readCommonDetails(readCall(payload), payload),
  message: asText(payload.last_assistant_message) || undefined,
  isNotification: payload.hook_event_name === "Notification" || undefined,
});
