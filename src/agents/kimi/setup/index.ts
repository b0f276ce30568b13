/** Install, uninstall and doctor for Kimi Code: hooks in its config.toml. */
import { createShellCommand } from "../../../user-files/hook-command.ts";
import { createLiveTest, createTestCommand } from "../../setup/hooks-setup.ts";
import { createAgentSetup } from "../../setup/index.ts";
import { kimiForwarding } from "../forwarding.ts";
import { editTools, questionTool } from "../translate.ts";
import { configPath, isPresent } from "./folder.ts";
import { addOwn, isEmpty, listOwn, removeOwn } from "./toml-hooks.ts";

const events = [
  ...["SessionStart", "SessionEnd", "UserPromptSubmit", "PermissionRequest", "PermissionResult", "Stop"],
  ...["StopFailure", "Interrupt", "PreCompact", "PostCompact"],
];
/** The ends of other calls are in the wire file, and each hook makes calls slower. Edits of subagents are in other files. */
const endEvents = ["PostToolUse", "PostToolUseFailure"];
const endMatcher = `^(${[questionTool, "Agent", ...editTools].join("|")})$`;
const timeoutSec = 5;

export const kimiSetup = createAgentSetup({
  id: "kimi",
  name: "Kimi Code",
  isPresent,
  describeProgram: () => ({ program: "kimi", versionPattern: /(?:^|\s)v?(\d+\.\d+\.\d+[\w.+-]{0,40})/ }),
  settingsPath: (scope, env) => (scope === "user" ? configPath(env) : null),
  createRegistration({ binary, home, platform }) {
    const parts = { binary, agent: "kimi", home };
    const form = { ...createShellCommand(parts, platform), timeout: timeoutSec };
    const detached = createShellCommand({ ...parts, isDetached: true }, platform);
    const hooks = [
      ...events.map((event) => ({ ...form, event })),
      ...endEvents.map((event) => ({ ...form, event, matcher: endMatcher })),
      // Kimi Code waits for it before each call.
      { ...form, ...detached, event: "PreToolUse" },
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
