/** What the forwarder knows about Gemini CLI. Imports little: it is loaded at every hook. */
import type { Forwarding } from "../agent.ts";
import { findSpoolKind, type SpoolKinds } from "../spool-kind.ts";

const spoolKinds: SpoolKinds = {
  Notification: "ask",
  BeforeAgent: "end",
  AfterAgent: "end",
  SessionStart: "end",
  SessionEnd: "end",
  BeforeTool: "tool",
  AfterTool: "end",
};

export const geminiForwarding: Forwarding = {
  pidVariable: null,
  projectVariable: "GEMINI_PROJECT_DIR",
  metaVariables: [],
  identifierFields: [
    ...["session_id", "transcript_path", "cwd", "hook_event_name", "timestamp", "tool_name"],
    "notification_type",
  ],
  // `gemini -p` gives its hooks the same variables: only its command line differs.
  isAttended: () => null,
  identify: (payload) => ({ eventName: payload.hook_event_name, sessionId: payload.session_id }),
  spoolKind(payload) {
    const { hook_event_name: name, tool_name } = payload;
    // A question is asked by the call of its tool.
    const isQuestion = name === "BeforeTool" && tool_name === "ask_user";
    return { kind: isQuestion ? "ask" : findSpoolKind(spoolKinds, name), toolUseId: undefined };
  },
  isSessionStart: (payload) => payload.hook_event_name === "SessionStart",
  // Gemini CLI waits for this hook before it shows the dialog, and takes no answer from it.
  canWaitForAnswer: () => false,
  guard: {
    reduce({ session_id, cwd, hook_event_name, tool_name, tool_input }) {
      const { file_path } = Object(tool_input);
      return { session_id, cwd, hook_event_name, tool_name, tool_input: { file_path } };
    },
    formatOutput({ hook_event_name }, { decision, reason, metadata }) {
      const { additional_context: additionalContext, system_message: systemMessage } = metadata;
      const message = systemMessage === undefined ? {} : { systemMessage };
      if (hook_event_name === "BeforeTool" && decision === "block")
        return { decision: "deny", reason, ...message };
      if (hook_event_name === "SessionStart" && additionalContext !== undefined)
        return { hookSpecificOutput: { hookEventName: hook_event_name, additionalContext }, ...message };
      return systemMessage === undefined ? null : message;
    },
  },
  isDecision: () => false,
};
