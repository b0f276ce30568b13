/** Install, uninstall and doctor for Kimi Code: hooks in its config.toml. */
import { createShellCommand } from "../../../user-files/hook-command.ts";
import { createLiveTest, createTestCommand } from "../../setup/hooks-setup.ts";
import { createAgentSetup } from "../../setup/index.ts";
import { kimiForwarding } from "../forwarding.ts";
import { hookedTools } from "../translate.ts";
import { configPath, isPresent } from "./folder.ts";
import { addOwn, isEmpty, listOwn, removeOwn } from "./toml-hooks.ts";

const events = [
  ...["SessionStart", "SessionEnd", "UserPromptSubmit", "PermissionRequest", "PermissionResult", "Stop"],
  ...["StopFailure", "Interrupt", "PreCompact", "PostCompact"],
];
/** The other calls are in the wire files: Kimi Code waits for a hook before each call, and one after it makes it slower too. */
const callEvents = ["PreToolUse", "PostToolUse", "PostToolUseFailure"];
const callMatcher = `^(${hookedTools.join("|")})$`;
const timeoutSec = 5;

export const kimiSetup = createAgentSetup({
  id: "kimi",
  name: "Kimi Code",
  isPresent,
  describeProgram: () => ({ program: "kimi", versionPattern: /(?:^|\s)v?(\d+\.\d+\.\d+[\w.+-]{0,40})/ }),
  settingsPath: (scope, env) => (scope === "user" ? configPath(env) : null),
  createRegistration({ binary, home, platform }) {
    const command = createShellCommand({ binary, agent: "kimi", home }, platform);
    const form = { ...command, timeout: timeoutSec };
    const hooks = [
      ...events.map((event) => ({ ...form, event })),
      ...callEvents.map((event) => ({ ...form, event, matcher: callMatcher })),
    ];
    return { count: hooks.length, noun: "hook", add: (text) => addOwn(text ?? "", hooks) };
  },
  entries: {
    findHomes: (text) => listOwn(text).map(({ home }) => home),
    remove: removeOwn,
    isEmpty,
  },
  listOwn,
  liveTest: {
    ...createLiveTest(kimiForwarding),
    createRequest: (sessionId, text) => ({
      ...createTestCommand(sessionId, text),
      id: `${sessionId}-request`,
    }),
  },
});
