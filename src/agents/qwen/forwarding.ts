/** What the forwarder knows about Qwen Code. Imports little: it is loaded at every hook. */
import { createHookForwarding, formatGuardOutput, pickForGuard } from "../hook-forwarding.ts";

/** Qwen Code does not show its dialog while a PermissionRequest hook runs (measured): the terminal would be locked meanwhile. */
export const qwenForwarding = createHookForwarding({
  sessionVariable: "QWEN_CODE_SESSION_ID",
  projectVariable: "QWEN_PROJECT_DIR",
  identifierFields: ["tool_call_id", "prompt_id", "notification_type"],
  // A call starts after its approval, and a batch ends with the answer No.
  spoolKinds: { PreToolUse: "end", PostToolBatch: "end", Notification: "end" },
  guard: {
    reduce: (payload) => pickForGuard(payload, { file_path: Object(payload.tool_input).file_path }),
    // Measured with 0.24.4: "ask" opens the dialog without a PermissionRequest, so nobody would hear that it waits. The model is told.
    collisions: "tell",
    formatOutput: formatGuardOutput,
  },
});
