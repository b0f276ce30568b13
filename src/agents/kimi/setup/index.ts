/** Install, uninstall and doctor for Kimi Code: hooks in its config.toml. */
import { createShellCommand } from "../../../user-files/hook-command.ts";
import { createTestCommand, createTestEnd } from "../../setup/hooks-setup.ts";
import { createAgentSetup } from "../../setup/index.ts";
import { configPath, isPresent } from "./folder.ts";
import { addOwn, isEmpty, listOwn, removeOwn } from "./toml-hooks.ts";

const events = [
  ...["SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"],
  ...[
    "PermissionRequest",
    "PermissionResult",
    "Stop",
    "StopFailure",
    "Interrupt",
    "PreCompact",
    "PostCompact",
  ],
];
const timeoutSec = 5;

export const kimiSetup = createAgentSetup({
  id: "kimi",
  name: "Kimi Code",
  isPresent,
  describeProgram: () => ({ program: "kimi", versionPattern: /(?:^|\s)v?(\d+\.\d+\.\d+[\w.+-]{0,40})/ }),
  settingsPath: (scope, env) => (scope === "user" ? configPath(env) : null),
  createRegistration({ binary, home, platform }) {
    const { command } = createShellCommand({ binary, agent: "kimi", home }, platform);
    const hooks = events.map((event) => ({ event, command, timeout: timeoutSec }));
    return { count: events.length, noun: "hook", add: (text) => addOwn(text ?? "", hooks) };
  },
  entries: {
    findHomes: (text) => listOwn(text).map(({ home }) => home),
    remove: removeOwn,
    isEmpty,
  },
  listOwn,
  liveTest: {
    createRequest: (sessionId, text) => ({
      ...createTestCommand(sessionId, text),
      id: `${sessionId}-request`,
    }),
    createEnd: createTestEnd,
    createEnv: (env) => ({ ...env }),
  },
});
