/**
 * Translates Copilot CLI's hook events into beckon's own. beckon registers the event names that Claude Code has: only then a
 * payload names its event, except for SubagentStart. Fields come as session_id or sessionId, whatever the event.
 */
import { asRecord, asText, type JsonRecord } from "../../core/json.ts";
import type { AgentEvent, Change } from "../../core/session/event.ts";
import type { EventDetails, EventStamp, GuardRequest } from "../agent.ts";
import { readEditPaths } from "../edits.ts";
import type { HookMessage } from "../envelope.ts";
import {
  createHookEvent,
  createPrompt,
  createTurnEnd,
  readHookRequest,
  readId,
  readPath,
} from "../hook-event.ts";
import { nameNotification, nameTool } from "./names.ts";

/** A payload with one name for each field. */
interface CopilotPayload {
  readonly sessionId: string | null;
  readonly eventName: string | null;
  readonly agentId: string | null;
  readonly agentType: string | null;
  readonly transcriptPath: string | null;
  readonly tool: string;
  readonly input: JsonRecord;
}

function parsePayload(payload: JsonRecord): CopilotPayload {
  const read = (snake: string, camel: string): unknown => payload[snake] ?? payload[camel];
  const agentId = readId(read("agent_id", "agentId"));
  // The only one that does not name its event.
  const isSubagentStart = agentId !== null && payload.agentName !== undefined;
  return {
    sessionId: readId(read("session_id", "sessionId")),
    eventName: readId(read("hook_event_name", "hookName") ?? (isSubagentStart ? "SubagentStart" : null)),
    agentId,
    agentType: readId(read("agent_type", "agentType")),
    transcriptPath: readPath(read("transcript_path", "transcriptPath")),
    tool: readId(read("tool_name", "toolName")) ?? "",
    input: asRecord(read("tool_input", "toolArgs")),
  };
}

/** null if the payload names no session or no event. */
export function translate(hook: HookMessage, stamp: EventStamp): AgentEvent | null {
  const { payload } = hook;
  const parsed = parsePayload(payload);
  const { eventName: name, agentId, agentType, transcriptPath } = parsed;
  const sessionId = findSessionId(parsed, payload);
  if (sessionId === null || name === null) return null;
  const subject = { agent: "copilot", sessionId, name, agentId, agentType, transcriptPath };
  const event = { ...subject, cwd: readPath(payload.cwd) };
  return createHookEvent(hook, stamp, event, createChange(name, parsed, payload));
}

/** A subagent's own events have its id as session id. Its session's id is in the path of the event log. */
function findSessionId(
  { sessionId, agentId, transcriptPath }: CopilotPayload,
  payload: JsonRecord,
): string | null {
  if (agentId === null || sessionId !== agentId) return sessionId;
  const [, inPath] = /[\\/]session-state[\\/]([^\\/]+)[\\/]events\.jsonl$/.exec(transcriptPath ?? "") ?? [];
  return readId(inPath) ?? readId(payload.parent_agent_id ?? payload.parentAgentId) ?? sessionId;
}

const editTools: ReadonlySet<string> = new Set(["Edit", "Write"]);

/** Fields for a change. Hooks name the tool as Claude Code does, also that of a patch, which is in `input`. */
function readEditedFiles(tool: string, input: JsonRecord): { readonly editPaths?: readonly string[] } {
  if (!editTools.has(nameTool(tool))) return {};
  return readEditPaths({ [tool]: input.path === undefined ? "input" : "path" }, tool, input);
}

/**
 * beckon registers no hook of its own that could refuse an edit, because one that is missing would refuse every tool. But Copilot CLI
 * runs the hooks of a project's .claude/settings.local.json too, and obeys the work guard's hook for Claude Code there (measured
 * with 1.0.102).
 */
export const readGuardRequest = (payload: JsonRecord): GuardRequest | null =>
  readHookRequest(payload, "PreToolUse", (called, input) => {
    const tool = nameTool(called);
    return editTools.has(tool) ? { tool, paths: readEditedFiles(called, input).editPaths ?? [] } : null;
  });

function createChange(name: string, parsed: CopilotPayload, payload: JsonRecord): Change {
  const { agentId, tool } = parsed;
  const isMain = agentId === null;
  switch (name) {
    case "SessionStart":
      return { kind: "session-start", source: findOwn(sources, payload.source) ?? "startup", model: null };
    case "SessionEnd":
      return { kind: "session-end", reason: findOwn(reasons, payload.reason) ?? readId(payload.reason) };
    case "UserPromptSubmit":
      // A subagent can get more than one.
      if (!isMain) return { kind: "child-start", type: parsed.agentType ?? "" };
      return createPrompt(payload.prompt);
    case "PostToolUse":
    case "PostToolUseFailure":
      return {
        kind: "tool-end",
        tool: nameTool(tool),
        toolUseId: null,
        outcome: name === "PostToolUse" ? "ok" : "failed",
        skill: null,
        ...readEditedFiles(tool, parsed.input),
      };
    case "Notification":
      return createAsk(asText(payload.notification_type), asText(payload.message));
    case "Stop":
      // A subagent's end is SubagentStop.
      return isMain ? createTurnEnd() : { kind: "no-change" };
    case "SubagentStart":
      return { kind: "child-start", type: parsed.agentType ?? "" };
    case "SubagentStop":
      return { kind: "child-end", transcriptPath: null };
    // PermissionRequest comes before the user's rules: it does not mean that there is a dialog. PreToolUse has no id of the
    // call: the event log reports its start. Both come from a project's .claude/settings.json only.
    default:
      return { kind: "no-change" };
  }
}

const sources: Readonly<Record<string, string>> = { new: "startup", resume: "resume", clear: "clear" };
const reasons: Readonly<Record<string, string>> = { user_exit: "exit" };

/** Names like "constructor" are in every object. */
const findOwn = (names: Readonly<Record<string, string>>, name: unknown): string | undefined =>
  Object.hasOwn(names, asText(name)) ? names[asText(name)] : undefined;

/** The dialog shows 47 to 495 ms later. The event log has the request with its ids. */
function createAsk(type: string, message: string): Change {
  switch (type) {
    case "permission_prompt":
      return { kind: "ask", ask: "permission", inputKey: null, options: [], ...nameNotification(message) };
    case "elicitation_dialog":
      return {
        kind: "ask",
        ask: "question",
        tool: nameTool("ask_user"),
        inputKey: null,
        summary: "",
        options: [],
      };
    default:
      return { kind: "no-change" };
  }
}

export function readDetails(payload: JsonRecord): EventDetails {
  const { eventName, tool, input } = parsePayload(payload);
  const common = tool === "" ? {} : { tool: { name: tool, input } };
  switch (eventName) {
    case "UserPromptSubmit":
      return { prompt: asText(payload.prompt) };
    case "Notification":
      return { isNotification: true, message: asText(payload.message) };
    case "SessionStart":
      return { reason: asText(payload.source) };
    case "SessionEnd":
      return { reason: asText(payload.reason) };
    case "Stop":
      return { reason: asText(payload.stop_reason ?? payload.stopReason) };
    default:
      return common;
  }
}
