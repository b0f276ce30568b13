/** What the events mean that agents share with Claude Code, by their names. Pure. */
import { asText, type JsonRecord } from "../core/json.ts";
import type { Change } from "../core/session/event.ts";
import { createPrompt, createTurnEnd, readId, readTrimmedResponse } from "./hook-event.ts";
import { toOneLine } from "./one-line.ts";
import { createToolEnd, createToolStart, type SentCall } from "./tool-call.ts";

type CreateChange = (payload: JsonRecord, readCall: () => SentCall) => Change;

const changes: Readonly<Record<string, CreateChange>> = {
  SessionStart: ({ source, model }) => ({
    kind: "session-start",
    source: readId(source) ?? "startup",
    model: readId(model),
  }),
  SessionEnd: ({ reason }) => ({ kind: "session-end", reason: readId(reason) }),
  UserPromptSubmit: ({ prompt }) => createPrompt(prompt),
  PreToolUse: (_, readCall) => createToolStart(readCall()),
  PostToolUse: (_, readCall) => createToolEnd(readCall()),
  PostToolUseFailure: (_, readCall) => createToolEnd(readCall(), "failed"),
  PermissionDenied: (_, readCall) => createToolEnd(readCall(), "denied"),
  Stop: (payload) => createTurnEnd({ lastResponse: readTrimmedResponse(findResponse(payload)) }),
  StopFailure: (payload) => createTurnEnd({ error: toOneLine(findError(payload)) || "error" }),
  SubagentStart: ({ agent_type }) => ({ kind: "child-start", type: readId(agent_type) ?? "" }),
  SubagentStop: () => ({ kind: "child-end", transcriptPath: null }),
  PreCompact: () => ({ kind: "compact-start" }),
  PostCompact: () => ({ kind: "compact-end" }),
};

/** For the events of an agent that mean what they mean in Claude Code. No change if the name is unknown. */
export const createHookChange = (name: string, payload: JsonRecord, readCall: () => SentCall): Change =>
  (Object.hasOwn(changes, name) ? changes[name] : undefined)?.(payload, readCall) ?? { kind: "no-change" };

export const findResponse = (payload: JsonRecord): string =>
  asText(payload.last_assistant_message) || asText(payload.lastAssistantMessage);

/** The longest of what agents say about a failed turn. */
function findError(payload: JsonRecord): string {
  const { error_details, errorDetails, error_message, error, error_type } = payload;
  return [error_details, errorDetails, error_message, error, error_type].map(asText).find(Boolean) ?? "";
}
