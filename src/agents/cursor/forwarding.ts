/** What the forwarder knows about Cursor. Imports little: it is loaded at every hook. Written from its documentation, never run. */
import { asText } from "../../core/json.ts";
import type { Forwarding } from "../agent.ts";

export const cursorForwarding: Forwarding = {
  pidVariable: null,
  projectVariable: "CURSOR_PROJECT_DIR",
  metaVariables: [],
  identifierFields: [
    ...["conversation_id", "session_id", "generation_id", "hook_event_name", "cursor_version"],
    ...["transcript_path", "cwd", "tool_name"],
  ],
  isAttended: () => null,
  identify: (payload) => ({
    eventName: payload.hook_event_name,
    sessionId: payload.conversation_id ?? payload.session_id,
  }),
  spoolKind: (payload) => ({
    kind: payload.hook_event_name === "doctorTest" ? "ask" : "end",
    toolUseId: undefined,
  }),
  isSessionStart: (payload) => /^sessionStart$/i.test(asText(payload.hook_event_name)),
  canWaitForAnswer: () => false,
  isDecision: () => false,
};
