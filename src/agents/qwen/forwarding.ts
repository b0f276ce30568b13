/** What the forwarder knows about Qwen Code. Imports little: it is loaded at every hook. */
import type { Forwarding } from "../agent.ts";
import { findSpoolKind, type SpoolKinds } from "../spool-kind.ts";

const spoolKinds: SpoolKinds = {
  PermissionRequest: "ask",
  UserPromptSubmit: "end",
  PostToolBatch: "end",
  Notification: "end",
  Stop: "end",
  StopFailure: "end",
  SubagentStop: "end",
  SessionStart: "end",
  SessionEnd: "end",
  PreToolUse: "end",
};

export const qwenForwarding: Forwarding = {
  pidVariable: null,
  sessionVariable: "QWEN_CODE_SESSION_ID",
  projectVariable: "QWEN_PROJECT_DIR",
  metaVariables: [],
  identifierFields: [
    ...["session_id", "transcript_path", "cwd", "hook_event_name", "timestamp", "tool_name", "tool_call_id"],
    ...["agent_id", "agent_type", "prompt_id", "permission_mode", "notification_type"],
  ],
  // `qwen -p` gives its hooks the same variables: only its command line differs.
  isAttended: () => null,
  identify: (payload) => ({ eventName: payload.hook_event_name, sessionId: payload.session_id }),
  spoolKind: (payload) => ({
    kind: findSpoolKind(spoolKinds, payload.hook_event_name),
    toolUseId: payload.tool_call_id,
  }),
  isSessionStart: (payload) => payload.hook_event_name === "SessionStart" && payload.source !== "compact",
  // Qwen Code does not show its dialog while a PermissionRequest hook runs (measured): the terminal would be locked meanwhile.
  canWaitForAnswer: () => false,
  guard: {
    reduce({ session_id, cwd, hook_event_name, tool_name, tool_input }) {
      const { file_path } = Object(tool_input);
      return { session_id, cwd, hook_event_name, tool_name, tool_input: { file_path } };
    },
    formatOutput({ hook_event_name: hookEventName }, { decision, reason }) {
      if (hookEventName !== "PreToolUse" || decision !== "block") return null;
      const refusal = { hookEventName, permissionDecision: "deny", permissionDecisionReason: reason };
      return { hookSpecificOutput: refusal };
    },
  },
  isDecision: () => false,
};
