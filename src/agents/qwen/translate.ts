/** Translates Qwen Code's hook events into beckon's own. Nothing else gives them a meaning. */
import { type JsonRecord, listRecords } from "../../core/json.ts";
import type { AgentEvent, Change } from "../../core/session/event.ts";
import type { EventDetails, EventStamp, GuardRequest } from "../agent.ts";
import type { EditTools } from "../edits.ts";
import type { HookMessage } from "../envelope.ts";
import { createHookChange, findResponse } from "../hook-changes.ts";
import {
  createPrompt,
  readEdit,
  readHookRequest,
  readId,
  stampByPayload,
  translateHook,
} from "../hook-event.ts";
import {
  createPermissionAsk,
  createQuestion,
  readCommonDetails,
  readToolCall,
  type SentCall,
  type ToolTable,
} from "../tool-call.ts";

export const translate = (hook: HookMessage, stamp: EventStamp): AgentEvent | null =>
  translateHook(hook, stampByPayload(hook, stamp), "qwen", createChange, {
    agentId: readId(hook.payload.agent_id),
    agentType: readId(hook.payload.agent_type),
    permissionMode: readId(hook.payload.permission_mode),
  });

function createChange(name: string, payload: JsonRecord): Change {
  switch (name) {
    case "UserPromptSubmit":
      // Again with an empty prompt after each batch of tools (39 of 39).
      return payload.prompt === "" ? { kind: "turn-start" } : createPrompt(payload.prompt);
    case "PermissionRequest":
      return createAsk(payload);
    case "PostToolBatch": {
      const isCancelled = listRecords(payload.tool_calls).some(({ status }) => status === "cancelled");
      if (!isCancelled) return { kind: "tool-batch-end" };
      // No, or Esc, in a dialog ends the turn. A subagent goes on (n=3).
      return readId(payload.agent_id) === null
        ? { kind: "interrupted" }
        : { kind: "ask-ended", inputKey: null, outcome: "denied" };
    }
    case "Notification":
      // At once at the end of every turn, and the only sign of Esc while the model streams.
      return { kind: payload.notification_type === "idle_prompt" ? "interrupted" : "no-change" };
    // PreToolUse comes after the approval: the watcher ends what was asked.
    default:
      return createHookChange(name, payload, () => readCall(payload));
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
  message: findResponse(payload) || undefined,
  isNotification: payload.hook_event_name === "Notification" || undefined,
});
