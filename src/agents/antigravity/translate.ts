/**
 * Translates Antigravity CLI's hook events into beckon's own. Written from others' reports, never run. It reports each request to
 * the model and the end of a turn, but neither prompts nor requests to the user.
 */
import { asList, asText, type JsonRecord } from "../../core/json.ts";
import type { AgentEvent, Change } from "../../core/session/event.ts";
import type { EventStamp } from "../agent.ts";
import type { HookMessage } from "../envelope.ts";
import { createDoctorAsk, createHookEvent, createTurnEnd, readId, readPath } from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import { nameEvent } from "./forwarding.ts";

/** null if the payload names no conversation. */
export function translate(hook: HookMessage, stamp: EventStamp): AgentEvent | null {
  const { payload } = hook;
  const [sessionId, name] = [readId(payload.conversationId), readId(nameEvent(payload))];
  if (sessionId === null || name === null) return null;
  const cwd = readPath(asList(payload.workspacePaths)[0]);
  const subject = { agent: "antigravity", sessionId, name, cwd };
  return createHookEvent(hook, stamp, subject, createChange(name, payload));
}

export const explainRefusal = (payload: JsonRecord): string =>
  "conversationId" in payload ? "the payload is of an unknown event" : "no conversationId in the payload";

function createChange(name: string, payload: JsonRecord): Change {
  switch (name) {
    case "SessionStart":
      return { kind: "session-start", source: "startup", model: null };
    case "PreInvocation":
      // The first of a turn follows the user's prompt, whose text it does not have.
      return payload.invocationNum === 0
        ? { kind: "prompt", text: "", byMachine: true }
        : { kind: "turn-start" };
    case "Stop": {
      if (payload.fullyIdle === false) return { kind: "no-change" };
      const isError = /error/i.test(asText(payload.terminationReason));
      return createTurnEnd({ error: isError ? toOneLine(asText(payload.error)) || "error" : null });
    }
    // Events of beckon's own: doctor needs one that alerts and one that ends it.
    case "DoctorTest":
      return createDoctorAsk(payload.text);
    case "DoctorEnd":
      return { kind: "session-end", reason: "other" };
    default:
      return { kind: "no-change" };
  }
}
