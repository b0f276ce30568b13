/** Install, uninstall and doctor for Copilot CLI: a file of beckon's own in its folder of hooks. */
import { asRecord, parseJson } from "../../../core/json.ts";
import { createShellCommand, readHookCommand } from "../../../user-files/hook-command.ts";
import { createTestEnd } from "../../setup/hooks-setup.ts";
import { createAgentSetup } from "../../setup/index.ts";
import { createOwnFileSetup } from "../../setup/own-file.ts";
import { hooksPath, isPresent, ownMark } from "./folder.ts";

/**
 * With these names, which are Claude Code's, a payload names its event. preToolUse and permissionRequest are left out: one that
 * fails or is missing denies the tool (measured), so a leftover of a removed beckon would block every tool.
 */
const events = [
  "SessionStart",
  "SessionEnd",
  "UserPromptSubmit",
  "PostToolUse",
  "PostToolUseFailure",
  "Notification",
  "Stop",
  "SubagentStart",
  "SubagentStop",
] as const;

const timeoutSec = 5;

const hooksFile = createOwnFileSetup({
  noun: "hook file",
  mark: ownMark,
  createText({ binary, home, platform }) {
    const { command } = createShellCommand({ binary, agent: "copilot", home }, platform);
    // To PowerShell a path in quotes is only a text.
    const called = command.startsWith('"') ? `& ${command}` : command;
    const hook =
      platform === "win32"
        ? { type: "command", powershell: called, timeoutSec }
        : { type: "command", bash: command, timeoutSec };
    const hooks = Object.fromEntries(events.map((event) => [event, [hook]]));
    return `${JSON.stringify({ version: 1, hooks }, null, 2)}\n`;
  },
  readCalled(text) {
    const hooks = Object.values(asRecord(asRecord(parseJson(text)).hooks)).flat();
    for (const { bash, powershell } of hooks.map(asRecord)) {
      const command = bash ?? powershell;
      const called = typeof command === "string" ? readHookCommand(command) : null;
      if (called !== null) return called;
    }
    return null;
  },
});

export const copilotSetup = createAgentSetup({
  id: "copilot",
  name: "Copilot CLI",
  isPresent,
  describeProgram: () => ({
    program: "copilot",
    versionPattern: /(?:^|\s)v?(\d+\.\d+\.\d+[\w+-]{0,40}(?:\.\d+)?)/,
  }),
  settingsPath: (scope, env) => (scope === "user" ? hooksPath(env) : null),
  ...hooksFile,
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
});
