/** What the forwarder knows about Claude Code. Imports little: it is loaded at every hook. */
import { asRecord, type JsonRecord } from "../../core/json.ts";
import type { Forwarding } from "../agent.ts";
import { findSpoolKind, type SpoolKinds } from "../spool-kind.ts";

const spoolKinds: SpoolKinds = {
  PermissionRequest: "ask",
  Elicitation: "ask",
  Notification: "ask",
  ElicitationResult: "end",
  PermissionDenied: "end",
  UserPromptSubmit: "end",
  Stop: "end",
  StopFailure: "end",
  SubagentStop: "end",
  SessionStart: "end",
  SessionEnd: "end",
  PreToolUse: "tool",
  PostToolUse: "tool",
  PostToolUseFailure: "tool",
};

export const claudeForwarding: Forwarding = {
  pidVariable: "CLAUDE_PID",
  sessionVariable: "CLAUDE_CODE_SESSION_ID",
  projectVariable: "CLAUDE_PROJECT_DIR",
  metaVariables: ["CLAUDE_CODE_ENTRYPOINT"],
  identifierFields: [
    ...["session_id", "transcript_path", "cwd", "hook_event_name", "hook_type", "tool_name", "tool_use_id"],
    ...["agent_id", "agent_transcript_path", "prompt_id", "permission_mode", "notification_type"],
  ],
  isAttended(env) {
    // A background session (`claude --bg`) says that nobody is there, but waits until the user answers (measured). What it
    // runs with `-p` inherits the variable.
    const isBackground = Boolean(env.CLAUDE_JOB_DIR) && env.CLAUDE_CODE_ENTRYPOINT === "cli";
    if (env.CLAUDE_CODE_SESSION_ATTENDED === "1" || isBackground) return true;
    if (env.CLAUDE_CODE_SESSION_ATTENDED === "0") return false;
    return env.CLAUDE_CODE_ENTRYPOINT?.startsWith("sdk") ? false : null;
  },
  identify: (payload) => ({
    eventName: payload.hook_event_name ?? payload.hook_type,
    sessionId: payload.session_id,
  }),
  spoolKind: (payload) => ({
    kind: findSpoolKind(spoolKinds, payload.hook_event_name ?? payload.hook_type),
    toolUseId: payload.tool_use_id,
  }),
  isSessionStart: (payload) => payload.hook_event_name === "SessionStart" && payload.source !== "compact",
  // A subagent's dialog does not show while its hook runs.
  canWaitForAnswer: (payload) =>
    payload.hook_event_name === "PermissionRequest" && payload.agent_id === undefined,
  guard: {
    reduce({ session_id, cwd, hook_event_name, tool_name, tool_input }) {
      const { file_path, notebook_path } = asRecord(tool_input);
      const input = { file_path, notebook_path };
      return { session_id, cwd, hook_event_name, tool_name, tool_input: input };
    },
    // Measured with 2.1.325: the model gets the reason as the tool's result. A systemMessage is a line in the terminal.
    formatOutput({ hook_event_name }, { decision, reason, metadata }) {
      const { additional_context: context, system_message: message } = metadata;
      const systemMessage = message === undefined ? {} : { systemMessage: message };
      const specific = (fields: JsonRecord) => ({
        hookSpecificOutput: { hookEventName: hook_event_name, ...fields },
      });
      if (hook_event_name === "PreToolUse" && decision === "block") {
        return {
          ...specific({ permissionDecision: "deny", permissionDecisionReason: reason }),
          ...systemMessage,
        };
      }
      // Measured with 2.1.326: "ask" opens the dialog also where edits are accepted, and PermissionRequest follows. The dialog about a
      // file does not show the reason, so it is a line in the terminal too.
      if (hook_event_name === "PreToolUse" && decision === "ask") {
        return {
          ...specific({ permissionDecision: "ask", permissionDecisionReason: reason }),
          systemMessage: message ?? `beckon: ${reason}`,
        };
      }
      // Without a decision, so that the user's own rules decide about the edit.
      if ((hook_event_name === "SessionStart" || hook_event_name === "PreToolUse") && context !== undefined)
        return { ...specific({ additionalContext: context }), ...systemMessage };
      return message === undefined ? null : systemMessage;
    },
  },
  isDecision(value) {
    const { hookSpecificOutput: output, ...otherFields } = asRecord(value);
    const { hookEventName, decision, ...otherOutput } = asRecord(output);
    const { behavior, message = "" } = asRecord(decision);
    const isAlone = Object.keys(otherFields).length + Object.keys(otherOutput).length === 0;
    const isForRequest = hookEventName === "PermissionRequest" && typeof message === "string";
    return isAlone && isForRequest && (behavior === "allow" || behavior === "deny");
  },
};
