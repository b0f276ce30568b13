/** Translates Codex's hook events into beckon's own. */
import { asText, type JsonRecord } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { AgentEvent, Change, Place } from "../../core/session/event.ts";
import { truncate } from "../../core/text/truncate.ts";
import type { EventDetails, EventStamp } from "../agent.ts";
import type { HookMessage } from "../envelope.ts";
import { createHookEvent, createPrompt, createTurnEnd } from "../hook-event.ts";
import { createPermissionAsk, createToolEnd, createToolStart, readCommonDetails } from "../tool-call.ts";
import { type CodexPayload, parsePayload, readCall } from "./payload.ts";

/** null if the payload names no session or no event. */
export function translate(hook: HookMessage, stamp: EventStamp): AgentEvent | null {
  const event = parsePayload(hook.payload);
  if (!event) return null;
  const subject = {
    agent: "codex",
    sessionId: event.sessionId,
    agentId: event.agentId,
    agentType: event.agentType,
    name: event.eventName,
    promptId: event.turnId,
    cwd: event.cwd,
    transcriptPath: event.transcriptPath,
    place: findOwnPlace(hook.meta.place),
    permissionMode: event.permissionMode,
  };
  return createHookEvent(hook, stamp, subject, createChange(event, hook.payload));
}

/**
 * The shared server has no terminal. Its hooks have the variables of the terminal that happened to start it, for the sessions
 * of every other terminal too (measured), so they would lead to a wrong pane.
 */
export const findOwnPlace = (place: Place | null): Place | null => (place?.tty == null ? null : place);

function createChange(event: CodexPayload, payload: JsonRecord): Change {
  switch (event.eventName) {
    case "SessionStart":
      return { kind: "session-start", source: asText(payload.source) || "startup", model: event.model };
    case "SessionEnd":
      return { kind: "session-end", reason: asText(payload.reason) || null };
    case "UserPromptSubmit":
      // A subagent's first prompt comes from the main thread.
      if (event.agentId !== null) return { kind: "child-start", type: event.agentType ?? "" };
      return createPrompt(payload.prompt);
    case "PreToolUse":
      return createToolStart(readCall(payload));
    case "PostToolUse":
      return createToolEnd(readCall(payload));
    case "PermissionRequest":
      return createPermissionAsk(readCall(payload));
    case "Interrupt":
      return { kind: "interrupted" };
    case "Stop":
      return createTurnEnd({ lastResponse: readResponse(payload.last_assistant_message) });
    case "SubagentStart":
      return { kind: "child-start", type: event.agentType ?? "" };
    case "SubagentStop":
      return { kind: "child-end", transcriptPath: asText(payload.agent_transcript_path) || null };
    case "PreCompact":
      return { kind: "compact-start" };
    case "PostCompact":
      return { kind: "compact-end" };
    default:
      return { kind: "no-change" };
  }
}

/** null if the turn ended without a response. */
export function readResponse(message: unknown): string | null {
  return truncate(asText(message), limits.maxTextLength) || null;
}

export const readDetails = (payload: JsonRecord): EventDetails => ({
  ...readCommonDetails(readCall(payload), payload),
  message: asText(payload.last_assistant_message) || undefined,
});
