/** Translates Claude Code's hook events into beckon's own. Nothing else gives them a meaning. */
import { asText, isRecord, type JsonRecord } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { AgentEvent, BackgroundTask, Change, SkillCall, TaskChange } from "../../core/session/event.ts";
import { hashJson } from "../../core/text/json-text.ts";
import { truncate } from "../../core/text/truncate.ts";
import type { EventStamp, GuardRequest } from "../agent.ts";
import { type EditTools, readEditPaths } from "../edits.ts";
import type { HookMessage } from "../envelope.ts";
import { createTurnEnd, readEdit, readHookRequest } from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import { summarizeQuestions } from "../questions.ts";
import { readMessage } from "./own-message.ts";
import { type AnyHookEvent, askKindOf, parseHookEvent, type UnknownHookEvent } from "./payload.ts";
import { summarizeCall } from "./summary.ts";
import { truncateResponse } from "./transcript.ts";

/** null if the payload names no session or no event. */
export function translate(hook: HookMessage, stamp: EventStamp): AgentEvent | null {
  const event = parseHookEvent(hook.payload);
  if (!event) return null;
  return {
    id: stamp.id,
    at: stamp.at,
    t: stamp.t,
    agent: "claude",
    sessionId: event.session_id,
    agentId: event.agent_id ?? null,
    agentType: event.agent_type ?? null,
    agentName: readAgentName(event),
    name: intern(event.hook_event_name),
    promptId: event.prompt_id ?? null,
    cwd: event.cwd ?? null,
    project: hook.meta.workspace,
    transcriptPath: event.transcript_path ?? null,
    place: hook.meta.place,
    attended: hook.meta.attended,
    permissionMode: event.permission_mode === undefined ? null : intern(event.permission_mode),
    payloadKey: stamp.key,
    change: createChange(event),
  };
}

/** The tools with which Claude Code changes files. */
export const editTools: EditTools = {
  Edit: "file_path",
  Write: "file_path",
  MultiEdit: "file_path",
  NotebookEdit: "notebook_path",
};

export const readGuardRequest = (payload: JsonRecord): GuardRequest | null =>
  readHookRequest(payload, "PreToolUse", (tool, input) => readEdit(editTools, tool, input));

const names = new Map<string, string>();
const maxNames = 1_000;

/** The same few names come with every event: each is kept in memory once, not once per event. */
function intern(name: string): string {
  const known = names.get(name);
  if (known === undefined && names.size < maxNames) names.set(name, name);
  return known ?? name;
}

function createChange(event: AnyHookEvent | UnknownHookEvent): Change {
  switch (event.hook_event_name) {
    case "SessionStart":
      return { kind: "session-start", source: event.source ?? "startup", model: event.model ?? null };
    case "SessionEnd":
      return { kind: "session-end", reason: event.reason ?? null };
    case "UserPromptSubmit":
      return {
        kind: "prompt",
        text: truncate(readMessage(event.prompt ?? ""), limits.maxTextLength),
        byMachine: machinePrompt.test(event.prompt ?? ""),
      };
    case "PreToolUse": {
      const input = event.tool_input ?? {};
      const asks = askKindOf(event.tool_name ?? null);
      return {
        kind: "tool-start",
        tool: intern(event.tool_name ?? ""),
        toolUseId: event.tool_use_id ?? null,
        inputKey: hashJson(input),
        summary: summarizeCall(event.tool_name ?? "", input),
        skill: readSkill(event.tool_name, input),
        ...(asks === "permission" ? {} : { asks }),
        ...(event.tool_name === "TaskCreate"
          ? { task: { id: null, status: "pending", ...readSubject(input.subject) } }
          : {}),
        ...readEditPaths(editTools, event.tool_name ?? "", input),
      };
    }
    case "PostToolUse":
    case "PostToolUseFailure":
    case "PermissionDenied":
      return {
        kind: "tool-end",
        tool: intern(event.tool_name ?? ""),
        toolUseId: event.tool_use_id ?? null,
        outcome: outcomes[event.hook_event_name],
        skill: readSkill(event.tool_name, event.tool_input ?? {}),
        ...readTask(event.tool_name, event.tool_input ?? {}, event.hook_event_name === "PostToolUse"),
        ...readEditPaths(editTools, event.tool_name ?? "", event.tool_input ?? {}),
      };
    case "PostToolBatch":
      return { kind: "tool-batch-end" };
    case "PermissionRequest":
      return createAsk(event.tool_name ?? null, event.tool_input ?? {});
    case "Elicitation":
      return {
        kind: "ask",
        ask: "elicitation",
        tool: null,
        inputKey: event.mcp_server_name ?? null,
        summary: toOneLine(event.message ?? ""),
        options: [],
      };
    case "ElicitationResult":
      return { kind: "elicitation-end", server: event.mcp_server_name ?? null };
    case "Notification":
      return createReminder(event.notification_type ?? "", toOneLine(event.message ?? ""));
    case "Stop":
      return createTurnEnd({
        lastResponse: truncateMessage(event.last_assistant_message),
        background: listBackgroundTasks(event.background_tasks),
      });
    case "StopFailure":
      // The error is "unknown" or "rate_limit"; the message is for people.
      return createTurnEnd({ error: toOneLine(event.last_assistant_message || event.error || "error") });
    case "SubagentStart":
      return {
        kind: "child-start",
        type: event.agent_type ?? "",
        ...(event.team_name ? { team: event.team_name } : {}),
      };
    case "SubagentStop":
      return { kind: "child-end", transcriptPath: event.agent_transcript_path ?? null };
    case "TaskCreated":
    case "TaskCompleted":
      return {
        kind: "task",
        task: {
          id: event.task_id ?? null,
          status: event.hook_event_name === "TaskCreated" ? "pending" : "completed",
          ...readSubject(event.task_subject),
        },
      };
    case "PreCompact":
      return { kind: "compact-start" };
    case "PostCompact":
      return { kind: "compact-end" };
    case "Setup":
      return { kind: "setup" };
    case "InstructionsLoaded": {
      const { file_path: path, memory_type: kind = "" } = event;
      return path === undefined
        ? { kind: "no-change" }
        : { kind: "document-loaded", document: { path, kind: intern(kind) } };
    }
    default:
      return { kind: "no-change" };
  }
}

/** Prompts that the CLI writes by itself when a background agent ends or is stopped. */
const machinePrompt = /^(?:<task-notification>|Background agent ".*" was stopped by the user\.)/;

const outcomes = { PostToolUse: "ok", PostToolUseFailure: "failed", PermissionDenied: "denied" } as const;

function createAsk(tool: string | null, input: JsonRecord): Change {
  const asked =
    tool === "AskUserQuestion"
      ? summarizeQuestions(input.questions)
      : { summary: summarizeCall(tool ?? "", input), options: [] };
  return { kind: "ask", ask: askKindOf(tool), tool, inputKey: hashJson(input), ...asked };
}

function createReminder(type: string, text: string): Change {
  switch (type) {
    case "permission_prompt":
    case "agent_needs_input":
    // A member of a team asks: its dialog is in the leader's terminal.
    case "worker_permission_prompt":
      return { kind: "reminder", ask: "permission", text };
    case "elicitation_dialog":
    case "elicitation_url_dialog":
      return { kind: "reminder", ask: "elicitation", text };
    case "idle_prompt":
    // The usage limit is over, and the task goes on only if the user presses Enter or writes.
    case "quota_auto_resume_stale":
    case "quota_auto_resume_disabled":
      return { kind: "reminder", ask: "idle", text };
    // The usage limit is over, and the task goes on by itself.
    case "quota_auto_resume_fired":
      return { kind: "turn-start" };
    // agent_completed is about a background session, which has hooks of its own; model_refusal_fallback asks for nothing.
    default:
      return { kind: "no-change" };
  }
}

/** These skills work on the document that their first argument names. */
const documentSkills: ReadonlySet<string> = new Set(["spec", "spec-review", "lite-spec"]);

/** Older CLIs send skill_name, with a slash, and skill_args. */
function readSkill(tool: string | undefined, input: JsonRecord): SkillCall | null {
  if (tool !== "Skill") return null;
  const name = toOneLine(findText(input.skill, input.skill_name)?.replace(/^\/+/, "") ?? "");
  if (!name) return null;
  const args = toOneLine(findText(input.args, input.skill_args) ?? "") || null;
  const [document = null] = args?.split(" ") ?? [];
  return {
    name,
    args,
    triggerCommand: args === null ? `/${name}` : `/${name} ${args}`,
    targetDocPath: documentSkills.has(name) ? document : null,
  };
}

function findText(...values: readonly unknown[]): string | null {
  return values.find((value): value is string => typeof value === "string" && value.length > 0) ?? null;
}

const taskStatuses = ["pending", "in_progress", "completed", "deleted"] as const;

/** What the end of a call does to the list of tasks. A TaskCreate that failed has created none. */
function readTask(
  tool: string | undefined,
  input: JsonRecord,
  hasSucceeded: boolean,
): { readonly task?: TaskChange } {
  if (tool === "TaskCreate" && !hasSucceeded)
    return { task: { id: null, status: "deleted", ...readSubject(input.subject) } };
  if (tool !== "TaskUpdate" || !hasSucceeded) return {};
  const status = taskStatuses.find((known) => known === input.status);
  const id = findText(input.taskId);
  return id === null || status === undefined ? {} : { task: { id, status, ...readSubject(input.subject) } };
}

function readSubject(subject: unknown): { readonly subject?: string } {
  return typeof subject === "string" && subject !== "" ? { subject: toOneLine(subject) } : {};
}

/** Teammates and the subagents of older CLIs have a name of their own. */
function readAgentName(event: AnyHookEvent | UnknownHookEvent): string | null {
  const isChildEvent = event.hook_event_name === "SubagentStart" || event.hook_event_name === "SubagentStop";
  return (isChildEvent && event.agent_name) || null;
}

function truncateMessage(message: string | undefined): string | null {
  return message ? truncateResponse(message, limits.maxTextLength) : null;
}

function listBackgroundTasks(tasks: unknown): readonly BackgroundTask[] | null {
  if (!Array.isArray(tasks)) return null;
  return tasks
    .slice(0, limits.maxChildren)
    .filter(isRecord)
    .flatMap((task) =>
      typeof task.id === "string"
        ? [
            {
              id: task.id,
              type: asText(task.type),
              running: task.status === "running",
              description: typeof task.description === "string" ? toOneLine(task.description) : null,
            },
          ]
        : [],
    );
}
