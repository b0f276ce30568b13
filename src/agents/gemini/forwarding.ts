/** What the forwarder knows about Gemini CLI. Imports little: it is loaded at every hook. */
import type { Forwarding } from "../agent.ts";
import { createHookForwarding, findSpoolKind, pickForGuard, type SpoolKinds } from "../hook-forwarding.ts";

const spoolKinds: SpoolKinds = {
  Notification: "ask",
  BeforeAgent: "end",
  AfterAgent: "end",
  SessionStart: "end",
  SessionEnd: "end",
  BeforeTool: "tool",
  AfterTool: "end",
};

/** Gemini CLI waits for the hook of a request before it shows the dialog, and takes no answer from it. */
export const geminiForwarding: Forwarding = {
  ...createHookForwarding({
    projectVariable: "GEMINI_PROJECT_DIR",
    identifierFields: ["notification_type"],
    spoolKinds,
    guard: {
      reduce: (payload) => pickForGuard(payload, { file_path: Object(payload.tool_input).file_path }),
      collisions: "ask",
      formatOutput({ hook_event_name }, { decision, reason, metadata }) {
        const { additional_context: additionalContext, system_message: systemMessage } = metadata;
        const message = systemMessage === undefined ? {} : { systemMessage };
        if (hook_event_name === "BeforeTool" && decision === "block")
          return { decision: "deny", reason, ...message };
        // Measured with 0.61.0: the dialog opens also where edits are accepted, and shows the message.
        if (hook_event_name === "BeforeTool" && decision === "ask")
          return { decision, reason, systemMessage: systemMessage ?? `beckon: ${reason}` };
        // What a call's result tells the model is another hook's: the user reads it.
        if (hook_event_name === "BeforeTool" && additionalContext !== undefined)
          return { systemMessage: systemMessage ?? `beckon: ${additionalContext}` };
        if (hook_event_name === "SessionStart" && additionalContext !== undefined)
          return { hookSpecificOutput: { hookEventName: hook_event_name, additionalContext }, ...message };
        return systemMessage === undefined ? null : message;
      },
    },
  }),
  spoolKind({ hook_event_name: name, tool_name }) {
    // A question is asked by the call of its tool.
    const isQuestion = name === "BeforeTool" && tool_name === "ask_user";
    return { kind: isQuestion ? "ask" : findSpoolKind(spoolKinds, name), toolUseId: undefined };
  },
};
