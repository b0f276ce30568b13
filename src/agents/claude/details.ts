/** What a hook payload says besides its change: tasks, skills, thinking, errors. */
import { asText, type JsonRecord } from "../../core/json.ts";
import type { EventDetails, TaskEvent } from "../agent.ts";
import { type AnyHookEvent, parseHookEvent, type UnknownHookEvent } from "./payload.ts";

export function readDetails(payload: JsonRecord): EventDetails {
  const event = parseHookEvent(payload);
  if (!event) return {};
  const common = {
    agentName: asText(payload.agent_name) || undefined,
    teamName: asText(payload.team_name) || undefined,
    parentSessionId: asText(payload.parent_session_id) || undefined,
    ...readToolDetails(event),
  };
  switch (event.hook_event_name) {
    case "PreToolUse":
      return { ...common, task: findTaskCall(event.tool_name, event.tool_input ?? {}, event.tool_use_id) };
    case "PostToolUse":
      return { ...common, thinking: event.thinking ?? event.extended_thinking };
    case "PostToolUseFailure":
      return {
        ...common,
        thinking: event.thinking ?? event.extended_thinking,
        error: event.error,
        exitCode: event.exit_code ?? findExitCode(event.error),
      };
    case "PermissionDenied":
      return { ...common, error: event.reason ?? "denied" };
    case "Notification":
      return {
        ...common,
        isNotification: true,
        message: event.message,
        level: event.level,
        thinking: event.thinking ?? event.extended_thinking,
      };
    case "UserPromptSubmit":
    case "SubagentStart":
      return { ...common, prompt: event.prompt };
    case "SessionStart":
      return { ...common, reason: event.source };
    case "SessionEnd":
      return { ...common, reason: event.reason };
    case "Stop":
      return { ...common, reason: event.reason, message: event.summary ?? event.last_assistant_message };
    case "SubagentStop":
      return { ...common, message: event.last_assistant_message, result: event.result };
    case "StopFailure":
      return { ...common, error: event.last_assistant_message || event.error };
    case "TaskCreated":
    case "TaskCompleted":
      return {
        ...common,
        task: {
          change: event.hook_event_name === "TaskCreated" ? "created" : "completed",
          id: event.task_id ?? null,
          subject: event.task_subject ?? null,
          isReported: true,
        },
      };
    default:
      return /^heartbeat$/i.test(event.hook_event_name) ? { ...common, isHeartbeat: true } : common;
  }
}

function readToolDetails(event: AnyHookEvent | UnknownHookEvent): Pick<EventDetails, "tool"> {
  if (!("tool_name" in event) || typeof event.tool_name !== "string" || event.tool_name === "") return {};
  return { tool: { name: event.tool_name, input: event.tool_input ?? {} } };
}

/** A failed command has no exit code of its own, only a text that starts with it: "Exit code 3". */
function findExitCode(error: string | undefined): number | undefined {
  const digits = /^(?:Error: )?Exit code (\d{1,10})\b/.exec(error ?? "")?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * TaskUpdate names the task and its new status. TaskCreate's input has no id: the TaskCreated event has it. CLIs without that event
 * tell only the id of the call.
 */
function findTaskCall(
  tool: string | undefined,
  input: JsonRecord,
  call: string | undefined,
): TaskEvent | undefined {
  const subject = asText(input.subject) || null;
  if (tool === "TaskCreate") return { change: "created", id: call ?? null, subject, isReported: false };
  if (tool !== "TaskUpdate") return undefined;
  const change = { in_progress: "started", completed: "completed" } as const;
  const { status } = input;
  if (status !== "in_progress" && status !== "completed") return undefined;
  const id = asText(input.taskId) || asText(input.task_id) || null;
  return { change: change[status], id, subject, isReported: false };
}
