/** The only place where Claude Code's events get their meaning. */

import { isRecord, type JsonRecord } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { AgentEvent, BackgroundTask, Change } from "../../core/session/event.ts";
import { hashText } from "../../core/text/json-text.ts";
import type { EventStamp } from "../agent.ts";
import type { HookMessage } from "../envelope.ts";
import { cut, oneLine, questions, summaryOf } from "./summary.ts";
import { cutAnswer } from "./transcript.ts";
import { type AnyHookEvent, readHook, type UnknownHookEvent } from "./wire.ts";

/** null: the payload names no session or no event. */
export function translate(hook: HookMessage, stamped: EventStamp): AgentEvent | null {
  const event = readHook(hook.payload);
  if (!event) return null;
  return {
    id: stamped.id,
    at: stamped.at,
    t: stamped.t,
    agent: "claude",
    sessionId: event.session_id,
    agentId: event.agent_id ?? null,
    agentType: event.agent_type ?? null,
    name: onlyOne(event.hook_event_name),
    promptId: event.prompt_id ?? null,
    cwd: event.cwd ?? null,
    project: hook.meta.workspace,
    transcriptPath: event.transcript_path ?? null,
    place: hook.meta.place,
    attended: hook.meta.attended,
    payloadKey: stamped.key,
    change: moveOf(event),
  };
}

export function explainRefusal(payload: JsonRecord): string {
  if (!("session_id" in payload)) return "no session_id in the payload";
  if (!("hook_event_name" in payload || "hook_type" in payload)) return "no hook_event_name in the payload";
  return "session_id or hook_event_name is empty, too long or no text";
}

const names = new Map<string, string>();
const maxNames = 1_000;

/** The same few names come with every event: one of each is kept, and not one an event. */
function onlyOne(name: string): string {
  const known = names.get(name);
  if (known === undefined && names.size < maxNames) names.set(name, name);
  return known ?? name;
}

function moveOf(event: AnyHookEvent | UnknownHookEvent): Change {
  switch (event.hook_event_name) {
    case "SessionStart":
      return { kind: "session-start", source: event.source ?? "startup", model: event.model ?? null };
    case "SessionEnd":
      return { kind: "session-end", reason: event.reason ?? null };
    case "UserPromptSubmit":
      return {
        kind: "prompt",
        text: cut(event.prompt ?? "", limits.maxTextLength),
        byMachine: machineMade.test(event.prompt ?? ""),
      };
    case "PreToolUse": {
      const input = event.tool_input ?? {};
      return {
        kind: "tool-start",
        tool: onlyOne(event.tool_name ?? ""),
        toolUseId: event.tool_use_id ?? null,
        inputKey: keyOf(input),
        summary: summaryOf(event.tool_name ?? "", input),
        skill: skillOf(event.tool_name, input),
      };
    }
    case "PostToolUse":
    case "PostToolUseFailure":
    case "PermissionDenied":
      return {
        kind: "tool-end",
        tool: onlyOne(event.tool_name ?? ""),
        toolUseId: event.tool_use_id ?? null,
        outcome: outcomes[event.hook_event_name],
        skill: skillOf(event.tool_name, event.tool_input ?? {}),
      };
    case "PostToolBatch":
      return { kind: "tool-batch-end" };
    case "PermissionRequest":
      return askOf(event.tool_name ?? null, event.tool_input ?? {});
    case "Elicitation":
      return {
        kind: "ask",
        ask: "elicitation",
        tool: null,
        inputKey: event.mcp_server_name ?? null,
        summary: oneLine(event.message ?? ""),
        options: [],
      };
    case "ElicitationResult":
      return { kind: "elicitation-end", server: event.mcp_server_name ?? null };
    case "Notification":
      return reminderOf(event.notification_type ?? "", oneLine(event.message ?? ""));
    case "Stop":
      return {
        kind: "turn-end",
        error: null,
        lastResponse: responseOf(event.last_assistant_message),
        background: backgroundOf(event.background_tasks),
      };
    case "StopFailure":
      return {
        kind: "turn-end",
        // "unknown", "rate_limit": the message says it in words.
        error: oneLine(event.last_assistant_message || event.error || "error"),
        lastResponse: null,
        background: null,
      };
    case "SubagentStart":
      return { kind: "child-start", type: event.agent_type ?? "" };
    case "SubagentStop":
      return { kind: "child-end" };
    case "PreCompact":
      return { kind: "compact-start" };
    case "PostCompact":
      return { kind: "compact-end" };
    case "Setup":
      return { kind: "setup" };
    default:
      return { kind: "no-change" };
  }
}

/** Prompts that the CLI writes itself when a background agent ends or is stopped. */
const machineMade = /^(?:<task-notification>|Background agent ".*" was stopped by the user\.)/;

const outcomes = { PostToolUse: "ok", PostToolUseFailure: "failed", PermissionDenied: "denied" } as const;

function askOf(tool: string | null, input: JsonRecord): Change {
  const asked = tool === "AskUserQuestion" ? questions(input) : [];
  return {
    kind: "ask",
    ask: tool === "AskUserQuestion" ? "question" : tool === "ExitPlanMode" ? "plan" : "permission",
    tool,
    inputKey: keyOf(input),
    summary: summaryOf(tool ?? "", input),
    options: asked[0]?.labels ?? [],
    ...(asked.length > 1 ? { questions: asked.length } : {}),
  };
}

function reminderOf(type: string, text: string): Change {
  switch (type) {
    case "permission_prompt":
    case "agent_needs_input":
      return { kind: "reminder", ask: "permission", text };
    case "elicitation_dialog":
    case "elicitation_url_dialog":
      return { kind: "reminder", ask: "elicitation", text };
    case "idle_prompt":
      return { kind: "reminder", ask: "idle", text };
    default:
      return { kind: "no-change" };
  }
}

/** Equal inputs have equal keys. An input nested too deep to be written out has none that equals another's. */
function keyOf(input: JsonRecord): string {
  try {
    return hashText(JSON.stringify(input));
  } catch {
    return "";
  }
}

/** Older CLIs say skill_name, with its slash. */
function skillOf(tool: string | undefined, input: JsonRecord): string | null {
  if (tool !== "Skill") return null;
  const name = [input.skill, input.skill_name].find((v) => typeof v === "string" && v.length > 0);
  return typeof name === "string" ? oneLine(name.replace(/^\/+/, "")) : null;
}

function responseOf(message: string | undefined): string | null {
  return message ? cutAnswer(message, limits.maxTextLength) : null;
}

function backgroundOf(tasks: unknown): readonly BackgroundTask[] | null {
  if (!Array.isArray(tasks)) return null;
  return tasks
    .slice(0, limits.maxChildren)
    .filter(isRecord)
    .flatMap((task) =>
      typeof task.id === "string"
        ? [
            {
              id: task.id,
              type: typeof task.type === "string" ? task.type : "",
              running: task.status === "running",
              description: typeof task.description === "string" ? oneLine(task.description) : null,
            },
          ]
        : [],
    );
}
