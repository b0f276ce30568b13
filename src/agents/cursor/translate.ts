/**
 * Translates Cursor's hook events into beckon's own. Written from its documentation, never run. Cursor has no event for a
 * request to the user. Hooks of Claude Code's that it runs have Claude Code's names of events.
 */
import { asList, asRecord, asText, type JsonRecord } from "../../core/json.ts";
import type { AgentEvent, Change } from "../../core/session/event.ts";
import type { EventDetails, EventStamp } from "../agent.ts";
import { readEditPaths } from "../edits.ts";
import type { HookMessage } from "../envelope.ts";
import {
  createDoctorAsk,
  createHookEvent,
  createPrompt,
  createTurnEnd,
  readId,
  readPath,
} from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";

/** null if the payload names no session or no event. */
export function translate(hook: HookMessage, stamp: EventStamp): AgentEvent | null {
  const { payload } = hook;
  const sessionId = readId(payload.conversation_id) ?? readId(payload.session_id);
  const name = readId(payload.hook_event_name);
  if (sessionId === null || name === null) return null;
  const cwd = readPath(payload.cwd) ?? readPath(asList(payload.workspace_roots)[0]);
  const isBackground = payload.is_background_agent === true ? { attended: false } : {};
  const subject = { agent: "cursor", sessionId, name, cwd, ...isBackground };
  return createHookEvent(hook, stamp, subject, createChange(name, payload));
}

export function explainRefusal(payload: JsonRecord): string {
  if (!("conversation_id" in payload || "session_id" in payload)) return "no conversation_id in the payload";
  return "conversation_id or hook_event_name is missing, empty, too long or not a string";
}

function createChange(name: string, payload: JsonRecord): Change {
  switch (name) {
    case "sessionStart":
    case "SessionStart":
      return { kind: "session-start", source: "startup", model: readId(payload.model) };
    case "sessionEnd":
    case "SessionEnd":
      return { kind: "session-end", reason: readId(payload.reason) };
    case "beforeSubmitPrompt":
    case "UserPromptSubmit":
      return createPrompt(payload.prompt);
    case "stop":
    case "Stop":
      if (payload.status === "aborted") return { kind: "interrupted" };
      return createTurnEnd({
        error: payload.status === "error" ? toOneLine(asText(payload.error_message)) || "error" : null,
      });
    case "preToolUse":
    case "PreToolUse":
    case "postToolUse":
    case "PostToolUse":
      return { kind: "turn-start" };
    case "afterFileEdit": {
      const input = { file_path: payload.file_path ?? asRecord(payload.tool_input).file_path };
      const call = { tool: "Edit", toolUseId: null, outcome: "ok", skill: null } as const;
      return { kind: "tool-end", ...call, ...readEditPaths({ Edit: "file_path" }, "Edit", input) };
    }
    // An event of beckon's own: doctor needs one that alerts.
    case "doctorTest":
      return createDoctorAsk(payload.text);
    default:
      return { kind: "no-change" };
  }
}

export const readDetails = (payload: JsonRecord): EventDetails =>
  typeof payload.prompt === "string" ? { prompt: payload.prompt } : {};
