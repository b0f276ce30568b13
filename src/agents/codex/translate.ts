/** Translates Codex's hook events into beckon's own. */
import type { JsonRecord } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import { type AgentEvent, type Change, createInternalEvent, type Place } from "../../core/session/event.ts";
import { truncate } from "../../core/text/truncate.ts";
import type { EventDetails, EventStamp } from "../agent.ts";
import type { HookMessage } from "../envelope.ts";
import { type CodexPayload, parsePayload, readPatchedFiles, readToolCall } from "./payload.ts";

/** null if the payload names no session or no event. */
export function translate(hook: HookMessage, stamp: EventStamp): AgentEvent | null {
  const event = parsePayload(hook.payload);
  if (!event) return null;
  return createInternalEvent(
    stamp.id,
    stamp,
    {
      agent: "codex",
      sessionId: event.sessionId,
      agentId: event.agentId,
      agentType: event.agentType,
      name: event.eventName,
      promptId: event.turnId,
      cwd: event.cwd,
      project: hook.meta.workspace,
      transcriptPath: event.transcriptPath,
      place: findOwnPlace(hook.meta.place),
      attended: hook.meta.attended,
      permissionMode: event.permissionMode,
      payloadKey: stamp.key,
    },
    createChange(event, hook.payload),
  );
}

/**
 * The shared server has no terminal. Its hooks have the variables of the terminal that happened to start it, for the sessions
 * of every other terminal too (measured), so they would lead to a wrong pane.
 */
export const findOwnPlace = (place: Place | null): Place | null => (place?.tty == null ? null : place);

export function explainRefusal(payload: JsonRecord): string {
  if (!("session_id" in payload)) return "no session_id in the payload";
  if (!("hook_event_name" in payload)) return "no hook_event_name in the payload";
  return "session_id or hook_event_name is empty, too long or not a string";
}

function createChange(event: CodexPayload, payload: JsonRecord): Change {
  switch (event.eventName) {
    case "SessionStart":
      return { kind: "session-start", source: readString(payload.source) ?? "startup", model: event.model };
    case "SessionEnd":
      return { kind: "session-end", reason: readString(payload.reason) ?? null };
    case "UserPromptSubmit":
      // A subagent's first prompt comes from the main thread.
      if (event.agentId !== null) return { kind: "child-start", type: event.agentType ?? "" };
      return {
        kind: "prompt",
        text: truncate(readString(payload.prompt) ?? "", limits.maxTextLength),
        byMachine: false,
      };
    case "PreToolUse": {
      const { tool, toolUseId, inputKey, summary } = readToolCall(payload);
      return {
        kind: "tool-start",
        tool,
        toolUseId,
        inputKey,
        summary,
        skill: null,
        ...readPatchedFiles(payload),
      };
    }
    case "PostToolUse": {
      const { tool, toolUseId } = readToolCall(payload);
      return { kind: "tool-end", tool, toolUseId, outcome: "ok", skill: null, ...readPatchedFiles(payload) };
    }
    case "PermissionRequest": {
      const { tool, inputKey, summary } = readToolCall(payload);
      return { kind: "ask", ask: "permission", tool, inputKey, summary, options: [] };
    }
    case "Interrupt":
      return { kind: "interrupted" };
    case "Stop":
      return {
        kind: "turn-end",
        error: null,
        lastResponse: truncateResponse(payload.last_assistant_message),
        background: null,
      };
    case "SubagentStart":
      return { kind: "child-start", type: event.agentType ?? "" };
    case "SubagentStop":
      return { kind: "child-end", transcriptPath: readString(payload.agent_transcript_path) ?? null };
    case "PreCompact":
      return { kind: "compact-start" };
    case "PostCompact":
      return { kind: "compact-end" };
    default:
      return { kind: "no-change" };
  }
}

/** null if the turn ended without a response. */
export function truncateResponse(message: unknown): string | null {
  const text = readString(message);
  return text === undefined ? null : truncate(text, limits.maxTextLength);
}

export function readDetails(payload: JsonRecord): EventDetails {
  const { tool, input } = readToolCall(payload);
  return {
    ...(tool === "" ? {} : { tool: { name: tool, input } }),
    prompt: readString(payload.prompt),
    message: readString(payload.last_assistant_message),
    reason: readString(payload.reason) ?? readString(payload.source),
  };
}

function readString(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
