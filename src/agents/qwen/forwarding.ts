/** What the forwarder knows about Qwen Code. Imports little: it is loaded at every hook. */
import { createHookForwarding, formatGuardAsk, formatGuardOutput, pickForGuard } from "../hook-forwarding.ts";

/** Qwen Code does not show its dialog while a PermissionRequest hook runs (measured): the terminal would be locked meanwhile. */
export const qwenForwarding = createHookForwarding({
  sessionVariable: "QWEN_CODE_SESSION_ID",
  projectVariable: "QWEN_PROJECT_DIR",
  identifierFields: ["tool_call_id", "prompt_id", "notification_type"],
  // A call starts after its approval, and a batch ends with the answer No.
  spoolKinds: { PreToolUse: "end", PostToolBatch: "end", Notification: "end" },
  guard: {
    reduce: (payload) => pickForGuard(payload, { file_path: Object(payload.tool_input).file_path }),
    // As 0.24.4 has it: "ask" opens the dialog of the call, also where edits are accepted. Without a terminal, it refuses.
    collisions: "ask",
    formatOutput: (payload, output) => formatGuardAsk(payload, output) ?? formatGuardOutput(payload, output),
  },
});
