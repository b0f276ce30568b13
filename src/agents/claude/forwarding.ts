/** What the forwarder knows about Claude Code. Imports little: it is loaded at every hook. */
import { asRecord } from "../../core/json.ts";
import type { Forwarding } from "../agent.ts";
import {
  commonSpoolKinds,
  findSpoolKind,
  formatGuardAsk,
  formatGuardOutput,
  pickForGuard,
  type SpoolKinds,
} from "../hook-forwarding.ts";

const spoolKinds: SpoolKinds = {
  ...commonSpoolKinds,
  Elicitation: "ask",
  Notification: "ask",
  ElicitationResult: "end",
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
    reduce(payload) {
      const { file_path, notebook_path } = asRecord(payload.tool_input);
      return pickForGuard(payload, { file_path, notebook_path });
    },
    // Measured with 2.1.325: the model gets the reason as the tool's result. A systemMessage is a line in the terminal.
    // Measured with 2.1.326: "ask" opens the dialog also where edits are accepted, and PermissionRequest follows. The dialog about a
    // file does not show the reason, so it is a line in the terminal too.
    collisions: "ask",
    formatOutput: (payload, output) => formatGuardAsk(payload, output) ?? formatGuardOutput(payload, output),
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
