/** Translates Qwen Code's hook events into beckon's own. Nothing else gives them a meaning. */
import { asRecord, asText, type JsonRecord, listRecords } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { AgentEvent, Change } from "../../core/session/event.ts";
import { hashJson } from "../../core/text/json-text.ts";
import { truncate } from "../../core/text/truncate.ts";
import type { EventDetails, EventStamp, GuardRequest } from "../agent.ts";
import { type EditTools, readEditPaths } from "../edits.ts";
import type { HookMessage } from "../envelope.ts";
import {
  createHookEvent,
  createPrompt,
  createTurnEnd,
  findSummary,
  readEdit,
  readHookRequest,
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
  const subject = {
    agent: "qwen",
    sessionId,
    name,
    agentId: readId(payload.agent_id),
    agentType: readId(payload.agent_type),
    cwd: readPath(payload.cwd),
    transcriptPath: readPath(payload.transcript_path),
    permissionMode: readId(payload.permission_mode),
  };
  return createHookEvent(hook, stamp, subject, createChange(name, payload));
}

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
      return createToolStart(payload);
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
      return createTurnEnd({
        lastResponse: truncate(asText(payload.last_assistant_message).trim(), limits.maxTextLength) || null,
      });
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

/** The names under which other agents' tools are shown that do the same, and the field that describes a call best. */
const tools: Readonly<Record<string, readonly [name: string, summary?: string]>> = {
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
};

function readCall({ tool_name, tool_input }: JsonRecord) {
  const name = readId(tool_name) ?? "";
  const [tool, field] = (Object.hasOwn(tools, name) ? tools[name] : undefined) ?? [name];
  const input = asRecord(tool_input);
  return { name, tool, input, inputKey: hashJson(input), summary: toOneLine(findSummary(input, field)) };
}

/** The tools with which Qwen Code changes files. */
export const editTools: EditTools = { edit: "file_path", write_file: "file_path" };

/** A dialog follows 66 to 593 ms later. The request names no call. */
function createAsk(payload: JsonRecord): Change {
  const { name, tool, input, inputKey, summary } = readCall(payload);
  if (name === questionTool)
    return { kind: "ask", ask: "question", tool, inputKey, ...summarizeQuestions(input.questions) };
  const ask = name === planTool ? "plan" : "permission";
  return { kind: "ask", ask, tool, inputKey, summary, options: [] };
}

function createToolStart(payload: JsonRecord): Change {
  const { name, tool, input, inputKey, summary } = readCall(payload);
  const toolUseId = readId(payload.tool_call_id);
  const call = { kind: "tool-start", tool, toolUseId, inputKey, summary, skill: null } as const;
  return { ...call, ...readEditPaths(editTools, name, input) };
}

export const readGuardRequest = (payload: JsonRecord): GuardRequest | null =>
  readHookRequest(payload, "PreToolUse", (tool, input) => readEdit(editTools, tool, input));

export function readDetails(payload: JsonRecord): EventDetails {
  const { tool, input } = readCall(payload);
  return {
    ...(tool === "" ? {} : { tool: { name: tool, input } }),
    prompt: asText(payload.prompt) || undefined,
    message: asText(payload.last_assistant_message) || undefined,
    reason: asText(payload.reason) || asText(payload.source) || undefined,
    isNotification: payload.hook_event_name === "Notification" || undefined,
  };
}
