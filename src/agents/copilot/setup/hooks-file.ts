/** beckon's own file of hooks for Copilot CLI. */
import { asRecord } from "../../../core/json.ts";
import { createShellCommand, readHookCommand } from "../../../settings-file/hook-command.ts";
import type { RegistrationOptions } from "../../agent.ts";
import type { CalledBeckon } from "../../setup/index.ts";
import type { OwnFile } from "../../setup/own-file.ts";

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

export function createHooksFile({ binary, home, platform }: RegistrationOptions): string {
  const { command } = createShellCommand({ binary, agent: "copilot", home }, platform);
  const hook = { type: "command", [platform === "win32" ? "powershell" : "bash"]: command, timeoutSec };
  const hooks = Object.fromEntries(events.map((event) => [event, [hook]]));
  return `${JSON.stringify({ version: 1, hooks }, null, 2)}\n`;
}

export const hooksFile: OwnFile = {
  noun: "hook file",
  // The file has no room for a comment: nothing but beckon's own command contains this.
  mark: " hook copilot",
  readCalled,
};

function readCalled(text: string): CalledBeckon | null {
  try {
    const hooks = Object.values(asRecord(asRecord(JSON.parse(text)).hooks)).flat();
    for (const hook of hooks.map(asRecord)) {
      const command = hook.bash ?? hook.powershell;
      const called = typeof command === "string" ? readHookCommand(command) : null;
      if (called !== null) return { binary: called.binary, home: called.home };
    }
    return null;
  } catch {
    return null;
  }
}
