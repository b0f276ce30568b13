/** What the forwarder knows about Antigravity CLI. No imports: it is loaded at every hook. Written from others' reports, never run. */
import type { Forwarding } from "../agent.ts";

export const antigravityForwarding: Forwarding = {
  pidVariable: null,
  projectVariable: null,
  metaVariables: [],
  identifierFields: ["conversationId", "hookEventName", "transcriptPath", "artifactDirectoryPath"],
  isAttended: () => null,
  identify: (payload) => ({ eventName: nameEvent(payload), sessionId: payload.conversationId }),
  spoolKind: (payload) => ({
    kind: nameEvent(payload) === "DoctorTest" ? "ask" : "end",
    toolUseId: undefined,
  }),
  isSessionStart: (payload) => nameEvent(payload) === "SessionStart",
  canWaitForAnswer: () => false,
  isDecision: () => false,
};

/** Payloads do not name their event: their fields tell. */
export function nameEvent(payload: Readonly<Record<string, unknown>>): string | null {
  if (typeof payload.hookEventName === "string") return payload.hookEventName;
  if (payload.terminationReason !== undefined || payload.fullyIdle !== undefined) return "Stop";
  if (payload.invocationNum !== undefined) return "PreInvocation";
  return payload.conversationId === undefined ? null : "SessionStart";
}
