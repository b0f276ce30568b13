/** Install, uninstall and doctor for Copilot CLI: a file of beckon's own in its folder of hooks. */
import { createTestEnd } from "../../setup/hooks-setup.ts";
import { type AgentMachine, createAgentSetup } from "../../setup/index.ts";
import {
  createOwnFileEntries,
  createOwnFileRegistration,
  listCalledByOwnFile,
} from "../../setup/own-file.ts";
import { hooksPath, isPresent } from "./folder.ts";
import { createHooksFile, hooksFile } from "./hooks-file.ts";

export const createCopilotSetup = (machine: AgentMachine = {}) =>
  createAgentSetup(
    {
      id: "copilot",
      name: "Copilot CLI",
      isPresent,
      describeProgram: () => ({
        program: "copilot",
        versionPattern: /(?:^|\s)v?(\d+\.\d+\.\d+[\w+-]{0,40}(?:\.\d+)?)/,
      }),
      settingsPath: (scope, env) => (scope === "user" ? hooksPath(env) : null),
      createRegistration: (options) => createOwnFileRegistration(hooksFile, createHooksFile(options)),
      entries: createOwnFileEntries(hooksFile),
      listCalled: (text) => listCalledByOwnFile(hooksFile, text),
      liveTest: {
        createRequest: (sessionId, text) => ({
          sessionId,
          hook_event_name: "Notification",
          cwd: "/",
          notification_type: "permission_prompt",
          title: "Permission needed",
          message: `Run command: # ${text}`,
        }),
        createEnd: createTestEnd,
        // The session is shown with the last part of this path.
        createEnv: (env) => ({ ...env, COPILOT_CLI: "1", COPILOT_PROJECT_DIR: "/beckon doctor" }),
      },
    },
    machine,
  );

export const copilotSetup = createCopilotSetup();
