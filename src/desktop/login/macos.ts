/** macOS: a LaunchAgent of the user. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Exec } from "../../core/interfaces/index.ts";
import type { ExecResult } from "../../core/terminals/plan.ts";
import { escapeMarkup } from "../../core/text/markup.ts";
import { putFile } from "../put-file.ts";
import { formatLoginArgs, type LoginCommand, type LoginItem, loginOff } from "./login-item.ts";
import { bundleId, macAppOf, placeMacApp, readMacAppSource, removeMacApp } from "./mac-app.ts";

const label = "local.beckon";
/** By its full path, because PATH can hold anything. */
const launchctl = "/bin/launchctl";
const launchctlMs = 10_000;

export interface LaunchAgentOptions {
  readonly home: string;
  readonly uid: number;
  readonly exec: Exec;
}

/** launchd restarts beckon after a crash, and not after a clean exit (Quit, `beckon stop`, another one runs already). */
export function formatPlist(command: LoginCommand, program: string = command.binary): string {
  const string = (value: string) => `<string>${escapeMarkup(value)}</string>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  ${string(label)}
  <key>ProgramArguments</key>
  <array>
    ${[program, ...formatLoginArgs(command)].map(string).join("\n    ")}
  </array>
  <key>AssociatedBundleIdentifiers</key>
  ${string(bundleId)}
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>LimitLoadToSessionType</key>
  <string>Aqua</string>
  <key>ProcessType</key>
  <string>Interactive</string>
</dict>
</plist>
`;
}

const characters = { "&lt;": "<", "&gt;": ">", "&amp;": "&" } as const;

export function readPlistBinary(plist: string): string | null {
  const binary = /<key>ProgramArguments<\/key>\s*<array>\s*<string>([^<]*)<\/string>/.exec(plist)?.[1];
  return (
    binary?.replace(/&(?:lt|gt|amp);/g, (entity) => characters[entity as keyof typeof characters]) ?? null
  );
}

/** Unloads the agent first, because launchd does not read a changed file again; enables it, because it may be disabled. */
function planEnable(uid: number, path: string): readonly (readonly string[])[] {
  return [
    [launchctl, "bootout", `gui/${uid}/${label}`],
    [launchctl, "enable", `gui/${uid}/${label}`],
    [launchctl, "bootstrap", `gui/${uid}`, path],
  ];
}

/** What bootstrap reports while the old agent is still being unloaded. */
const inProgress = /\b(?:36|37)\b|already in progress/i;
/** The same right after an agent was unloaded (openclaw 136453). At other times it means that there is no desktop session. */
const inputOutputError = 5;
const retryMs = 500;
const maxTries = 6;

export function createMacLoginItem({ home, uid, exec }: LaunchAgentOptions): LoginItem {
  const path = join(home, "Library", "LaunchAgents", `${label}.plist`);
  const run = (argv: readonly string[]) => exec(argv, { timeoutMs: launchctlMs });

  async function runWithRetries(argv: readonly string[], isUnloading: boolean): Promise<ExecResult> {
    for (let attempt = 1; ; attempt++) {
      const result = await run(argv);
      const isBusy =
        inProgress.test(`${result.code} ${result.stderr}`) ||
        (isUnloading && result.code === inputOutputError);
      if (result.code === 0 || attempt === maxTries || !isBusy) return result;
      await Bun.sleep(retryMs);
    }
  }

  return {
    async enable(command) {
      const app = macAppOf(home);
      // Another state folder is another beckon, and there is one beckon.app.
      const isAlone = command.home === null;
      const problem = isAlone ? await placeMacApp(home, command.binary, exec) : "";
      const program = problem === null ? app.program : command.binary;
      putFile(path, Buffer.from(formatPlist(command, program)), 0o600);
      const [bootout = [], enable = [], bootstrap = []] = planEnable(uid, path);
      const unloaded = await run(bootout);
      await run(enable);
      const { code, stderr } = await runWithRetries(bootstrap, unloaded.code === 0);
      const without = problem ? `, without ${app.app}: ${problem}` : "";
      if (code === 0) return `beckon runs, and starts when you log in (${path})${without}`;
      // launchd reads the folder at the next login.
      return `beckon starts when you log in (${path}); it could not be started now: ${stderr.trim() || code}`;
    },

    async disable() {
      const isInstalled = existsSync(path);
      // An agent stays loaded when its file is gone.
      const loaded = await run([launchctl, "print", `gui/${uid}/${label}`]);
      // Unloading a running agent would end the app, which the user did not ask for: it is unloaded at logout.
      const isRunning = /^\s*state = running$/m.test(loaded.stdout);
      if (loaded.code === 0 && !isRunning) await run([launchctl, "bootout", `gui/${uid}/${label}`]);
      rmSync(path, { force: true });
      removeMacApp(home);
      if (!isInstalled && (loaded.code !== 0 || isRunning)) return null;
      return `beckon no longer starts when you log in (${path} is removed)`;
    },

    async state() {
      if (!existsSync(path)) return loginOff;
      const program = readPlistBinary(readFileSync(path, "utf8"));
      const binary = program === macAppOf(home).program ? readMacAppSource(home) : program;
      const { stdout } = await run([launchctl, "print-disabled", `gui/${uid}`]);
      if (isDisabled(stdout)) {
        const problem = `${label} is disabled in launchd. To turn it on: beckon --install --login`;
        return { on: false, turnedOff: true, binary, problem };
      }
      const isGone = binary !== null && !existsSync(binary);
      const problem = isGone ? `${path} starts ${binary}, which does not exist. Run: beckon --install` : null;
      return { on: binary !== null, turnedOff: false, binary, problem };
    },
  };
}

/** Older systems print true and false instead of disabled and enabled. */
function isDisabled(printed: string): boolean {
  return printed.split("\n").some((line) => /^\s*"local\.beckon"\s*=>\s*(?:disabled|true)\s*$/.test(line));
}
