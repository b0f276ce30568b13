/** What the forwarder knows about Grok Build, which has no hook that could answer its dialog. Imports little: it is loaded at every hook. */
import { createHookForwarding } from "../hook-forwarding.ts";

export const grokForwarding = createHookForwarding({
  sessionVariable: "GROK_SESSION_ID",
  projectVariable: "GROK_WORKSPACE_ROOT",
  identifierFields: [
    ...["sessionId", "transcriptPath", "workspaceRoot", "hookEventName", "promptId", "permissionMode"],
    ...["toolName", "toolUseId", "notificationType"],
  ],
  spoolKinds: { Notification: "ask", StopCancelled: "end" },
});
