/** Install, uninstall and doctor for Grok Build: a file of beckon's own in its folder of hooks. */
import { createHooksSetup, createTestEnd, createTestPayload } from "../../setup/hooks-setup.ts";
import { createAgentSetup } from "../../setup/index.ts";
import { hooksPath, isPresent } from "./folder.ts";

const events = [
  ...["SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"],
  ...["PermissionDenied", "Notification", "Stop", "StopCancelled", "StopFailure"],
];

const timeoutSec = 5;

export const grokSetup = createAgentSetup({
  id: "grok",
  name: "Grok Build",
  isPresent,
  describeProgram: () => ({ program: "grok", versionPattern: /(?:^|\s)v?(\d+\.\d+\.\d+[\w.+-]{0,40})/ }),
  settingsPath: (scope, env) => (scope === "user" ? hooksPath(env) : null),
  ...createHooksSetup({
    id: "grok",
    listHooks: () => events.map((event) => ({ event, timeout: timeoutSec, async: false })),
  }),
  liveTest: {
    createRequest: (sessionId, text) =>
      createTestPayload(sessionId, "Notification", { notificationType: "permission_prompt", message: text }),
    createEnd: createTestEnd,
    // The session is shown with the last part of this path.
    createEnv: (env, sessionId) => ({
      ...env,
      GROK_WORKSPACE_ROOT: "/beckon doctor",
      GROK_SESSION_ID: sessionId,
    }),
  },
});
