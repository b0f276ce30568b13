/** What the forwarder knows about Codex. Imports little: it is loaded at every hook. */
import type { Forwarding } from "../agent.ts";
import { findSpoolKind, type SpoolKinds } from "../spool-kind.ts";

const spoolKinds: SpoolKinds = {
  PermissionRequest: "ask",
  UserPromptSubmit: "end",
  Interrupt: "end",
  Stop: "end",
  SubagentStop: "end",
  SessionStart: "end",
  SessionEnd: "end",
  PreToolUse: "tool",
  PostToolUse: "tool",
};

export const codexForwarding: Forwarding = {
  pidVariable: null,
  sessionVariable: "CODEX_THREAD_ID",
  projectVariable: null,
  metaVariables: [],
  identifierFields: [
    ...["session_id", "turn_id", "transcript_path", "cwd", "hook_event_name", "tool_name", "tool_use_id"],
    ...["agent_id", "agent_transcript_path", "permission_mode", "model"],
  ],
  // Nothing in the environment tells `codex exec` from a terminal: the session's rollout file does.
  isAttended: () => null,
  identify: (payload) => ({ eventName: payload.hook_event_name, sessionId: payload.session_id }),
  spoolKind: (payload) => ({
    kind: findSpoolKind(spoolKinds, payload.hook_event_name),
    toolUseId: payload.tool_use_id,
  }),
  isSessionStart: (payload) => payload.hook_event_name === "SessionStart" && payload.source !== "compact",
  // Codex does not show its dialog while a PermissionRequest hook runs (measured): answers go through its server's socket.
  canWaitForAnswer: () => false,
  guard: {
    reduce({ session_id, cwd, hook_event_name, tool_name, tool_input }) {
      // Of a patch only the lines that can name its files: Codex ignores blanks before them, U+0085 too.
      const lines = String(Object(tool_input).command ?? "").split("\n");
      const command = lines.filter((line) => /^[\s\u0085]*\*\*\* /.test(line)).join("\n");
      return { session_id, cwd, hook_event_name, tool_name, tool_input: { command } };
    },
    formatOutput({ hook_event_name: hookEventName }, { decision, reason, metadata }) {
      const { additional_context: additionalContext, system_message: systemMessage } = metadata;
      const message = systemMessage === undefined ? {} : { systemMessage };
      const refusal = { hookEventName, permissionDecision: "deny", permissionDecisionReason: reason };
      if (hookEventName === "PreToolUse" && decision === "block")
        return { hookSpecificOutput: refusal, ...message };
      // It has no "ask" (https://github.com/openai/codex/pull/20756), so the model is told.
      if (
        (hookEventName === "SessionStart" || hookEventName === "PreToolUse") &&
        additionalContext !== undefined
      )
        return { hookSpecificOutput: { hookEventName, additionalContext }, ...message };
      return systemMessage === undefined ? null : message;
    },
  },
  isDecision: () => false,
};
