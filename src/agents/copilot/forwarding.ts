/** What the forwarder knows about Copilot CLI. Imports little: it is loaded at every hook. */
import type { Forwarding } from "../agent.ts";
import { findSpoolKind, pickForGuard, refuseCall, type SpoolKinds } from "../hook-forwarding.ts";

const spoolKinds: SpoolKinds = {
  Notification: "ask",
  PostToolUse: "end",
  PostToolUseFailure: "end",
  UserPromptSubmit: "end",
  Stop: "end",
  SubagentStop: "end",
  SessionStart: "end",
  SessionEnd: "end",
};

/** A line of a patch that names a file. */
const isHeader = (line: string): boolean => line.startsWith("*** ");

export const copilotForwarding: Forwarding = {
  pidVariable: null,
  projectVariable: "COPILOT_PROJECT_DIR",
  metaVariables: [],
  identifierFields: [
    ...["session_id", "sessionId", "transcript_path", "transcriptPath", "cwd", "hook_event_name", "hookName"],
    ...["timestamp", "tool_name", "toolName", "agent_id", "agentId", "parent_agent_id", "parentAgentId"],
    ...["notification_type", "agent_type", "agentType"],
  ],
  // `copilot -p` gives its hooks the same variables: only its command line differs.
  isAttended: () => null,
  identify: (payload) => ({
    eventName: payload.hook_event_name ?? payload.hookName,
    sessionId: payload.session_id ?? payload.sessionId,
  }),
  spoolKind: ({ hook_event_name: name }) => ({ kind: findSpoolKind(spoolKinds, name), toolUseId: undefined }),
  isSessionStart: (payload) => payload.hook_event_name === "SessionStart",
  // A held permissionRequest keeps the dialog away, and one that fails denies the tool.
  canWaitForAnswer: () => false,
  // For the hook that Claude Code has in a project, see translate.ts.
  guard: {
    reduce(payload) {
      const { path, input } = Object(payload.tool_input);
      const lines = typeof input === "string" ? input.split("\n") : [];
      return pickForGuard(
        payload,
        path === undefined ? { input: lines.filter(isHeader).join("\n") } : { path },
      );
    },
    formatOutput: refuseCall,
  },
  isDecision: () => false,
};
