/** Install, uninstall and doctor for Antigravity CLI: hooks in its hooks.json. Written from others' reports, never run. */
import { createAgentSetup } from "../../setup/index.ts";
import { createRegistration, entries, listOwn } from "./hooks-file.ts";
import { hooksPath, isRegistered } from "./registered.ts";

export const antigravitySetup = createAgentSetup({
  id: "antigravity",
  name: "Antigravity CLI",
  isPresent: isRegistered,
  describeProgram: () => ({ program: "agy", versionPattern: /(\d+\.\d+\.\d+[\w.+-]{0,40})/ }),
  settingsPath: (scope, env) => (scope === "user" ? hooksPath(env) : null),
  createRegistration,
  entries,
  listOwn,
  findWarnings: () => [
    "beckon has never been run with Antigravity CLI: this follows others' reports. It does not report its requests for approval.",
  ],
  liveTest: {
    createRequest: (conversationId, text) => ({
      conversationId,
      hookEventName: "DoctorTest",
      workspacePaths: ["/beckon doctor"],
      text,
    }),
    createEnd: (conversationId) => ({ conversationId, hookEventName: "DoctorEnd" }),
    createEnv: (env) => ({ ...env }),
  },
});
