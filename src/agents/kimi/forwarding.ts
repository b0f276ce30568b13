/** What the forwarder knows about Kimi Code. Imports little: it is loaded at every hook. */
import type { Forwarding } from "../agent.ts";
import { findSpoolKind, type SpoolKinds } from "../spool-kind.ts";

const spoolKinds: SpoolKinds = {
  PermissionRequest: "ask",
  PermissionResult: "end",
  UserPromptSubmit: "end",
  Stop: "end",
  StopFailure: "end",
  Interrupt: "end",
  SessionStart: "end",
  SessionEnd: "end",
  PreToolUse: "tool",
  PostToolUse: "tool",
  PostToolUseFailure: "tool",
};

export const kimiForwarding: Forwarding = {
  pidVariable: null,
  projectVariable: null,
  metaVariables: [],
  identifierFields: [
    ...["session_id", "cwd", "hook_event_name", "client_type", "id", "agent_id", "turn_id"],
    ...["tool_name", "tool_call_id"],
  ],
  // `kimi -p` gives its hooks the same variables: only its command line differs.
  isAttended: () => null,
  identify: (payload) => ({ eventName: payload.hook_event_name, sessionId: payload.session_id }),
  spoolKind: (payload) => ({
    kind: findSpoolKind(spoolKinds, payload.hook_event_name),
    toolUseId: payload.tool_call_id,
  }),
  isSessionStart: (payload) => payload.hook_event_name === "SessionStart",
  // It does not wait for the hook of a request (measured).
  canWaitForAnswer: () => false,
  isDecision: () => false,
};
