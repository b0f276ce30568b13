/** Install, uninstall and doctor for Grok Build: a file of beckon's own in its folder of hooks. */
import { createHooksSetup, createLiveTest, createTestPayload } from "../../setup/hooks-setup.ts";
import { createAgentSetup } from "../../setup/index.ts";
import { grokForwarding } from "../forwarding.ts";
import { questionTool } from "../translate.ts";
import { hooksPath, isPresent } from "./folder.ts";

const events = [
  ...["SessionStart", "SessionEnd", "UserPromptSubmit", "PermissionDenied", "Notification", "Stop"],
  ...["StopCancelled", "StopFailure"],
];

const form = { timeout: 5, async: false };

const hooks = [
  ...events.map((event) => ({ event, ...form })),
  // Other calls are in its files: Grok Build waits for a hook at each.
  ...["PreToolUse", "PostToolUse"].map((event) => ({ event, matcher: questionTool, ...form })),
];

export const grokSetup = createAgentSetup({
  id: "grok",
  name: "Grok Build",
  isPresent,
  describeProgram: () => ({ program: "grok", versionPattern: /(?:^|\s)v?(\d+\.\d+\.\d+[\w.+-]{0,40})/ }),
  settingsPath: (scope, env) => (scope === "user" ? hooksPath(env) : null),
  ...createHooksSetup({
    id: "grok",
    listHooks: () => hooks,
  }),
  liveTest: {
    ...createLiveTest(grokForwarding),
    createRequest: (sessionId, text) =>
      createTestPayload(sessionId, "Notification", { notificationType: "permission_prompt", message: text }),
  },
});
