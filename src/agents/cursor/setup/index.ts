/** Install, uninstall and doctor for Cursor: hooks in its hooks.json. Written from its documentation, never run. */
import { createAgentSetup } from "../../setup/index.ts";
import { createRegistration, entries, listOwn } from "./hooks-file.ts";
import { hooksPath, isRegistered } from "./registered.ts";

export const cursorSetup = createAgentSetup({
  id: "cursor",
  name: "Cursor",
  isPresent: isRegistered,
  describeProgram: () => ({ program: "cursor-agent", versionPattern: /(\d[\w.+-]{2,40})/ }),
  settingsPath: (scope, env) => (scope === "user" ? hooksPath(env) : null),
  createRegistration,
  entries,
  listOwn,
  findWarnings: () => [
    "beckon has never been run with Cursor: this follows its documentation. Cursor does not report its requests for approval.",
  ],
  liveTest: {
    createRequest: (sessionId, text) => ({
      conversation_id: sessionId,
      hook_event_name: "doctorTest",
      cwd: "/",
      text,
    }),
    createEnd: (sessionId) => ({
      conversation_id: sessionId,
      hook_event_name: "sessionEnd",
      reason: "other",
    }),
    // The session is shown with the last part of this path.
    createEnv: (env) => ({ ...env, CURSOR_PROJECT_DIR: "/beckon doctor" }),
  },
});
