/** What the forwarder knows about Gemini CLI. No imports: it is loaded at every hook. */
import type { Forwarding } from "../agent.ts";

const spoolKinds: Readonly<Record<string, "ask" | "end" | "tool">> = {
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
    const name = payload.hook_event_name;
    const kind = typeof name === "string" && Object.hasOwn(spoolKinds, name) ? spoolKinds[name] : undefined;
    // A question is asked by the call of its tool.
    const isQuestion = name === "BeforeTool" && payload.tool_name === "ask_user";
    return { kind: isQuestion ? "ask" : (kind ?? "other"), toolUseId: undefined };
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
