/** What the forwarder knows about Grok Build. Imports little: it is loaded at every hook. */
import type { Forwarding } from "../agent.ts";
import { findSpoolKind, type SpoolKinds } from "../spool-kind.ts";

const spoolKinds: SpoolKinds = {
  Notification: "ask",
  PermissionDenied: "end",
  UserPromptSubmit: "end",
  Stop: "end",
  StopCancelled: "end",
  StopFailure: "end",
  SessionStart: "end",
  SessionEnd: "end",
  PreToolUse: "tool",
  PostToolUse: "tool",
  PostToolUseFailure: "tool",
};

export const grokForwarding: Forwarding = {
  pidVariable: null,
  sessionVariable: "GROK_SESSION_ID",
  projectVariable: "GROK_WORKSPACE_ROOT",
  metaVariables: [],
  identifierFields: [
    ...["session_id", "sessionId", "transcript_path", "transcriptPath", "cwd", "workspaceRoot", "timestamp"],
    ...["hook_event_name", "hookEventName", "promptId", "permission_mode", "permissionMode"],
    ...["tool_name", "toolName", "tool_use_id", "toolUseId", "notificationType"],
  ],
  // `grok -p` gives its hooks the same variables: only its command line differs.
  isAttended: () => null,
  identify: (payload) => ({ eventName: payload.hook_event_name, sessionId: payload.session_id }),
  spoolKind: (payload) => ({
    kind: findSpoolKind(spoolKinds, payload.hook_event_name),
    toolUseId: payload.tool_use_id,
  }),
  isSessionStart: (payload) => payload.hook_event_name === "SessionStart",
  // It has no hook that could answer its dialog.
  canWaitForAnswer: () => false,
  isDecision: () => false,
};
