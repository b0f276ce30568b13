/** macOS: a LaunchAgent of the person's own. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Exec, ExecResult } from "../../core/ports.ts";
import { putFile } from "../put-file.ts";
import { type LoginCommand, type LoginItem, loginArgs, notThere } from "./login.ts";

const label = "local.beckon";
/** By its full path: PATH can hold anything. */
const launchctl = "/bin/launchctl";
const launchctlMs = 10_000;

export interface LaunchAgentOptions {
  readonly home: string;
  readonly uid: number;
  readonly exec: Exec;
}

/** Crashed, it is started again; ended well (Quit, `beckon stop`, one that runs already), it is left alone. */
export function plistText(wish: LoginCommand): string {
  const text = (value: string) => `<string>${escaped(value)}</string>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  ${text(label)}
  <key>ProgramArguments</key>
  <array>
    ${[wish.binary, ...loginArgs(wish)].map(text).join("\n    ")}
  </array>
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

function escaped(value: string): string {
  const names: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
  return value.replace(/[&<>]/g, (character) => names[character] ?? "");
}

const names = { "&lt;": "<", "&gt;": ">", "&amp;": "&" } as const;

export function binaryIn(plist: string): string | null {
  const found = /<key>ProgramArguments<\/key>\s*<array>\s*<string>([^<]*)<\/string>/.exec(plist)?.[1];
  return found?.replace(/&(?:lt|gt|amp);/g, (name) => names[name as keyof typeof names]) ?? null;
}

/** What is loaded is let go first: launchd does not read a changed file again. It may have been disabled. */
function enablePlan(uid: number, path: string): readonly (readonly string[])[] {
  return [
    [launchctl, "bootout", `gui/${uid}/${label}`],
    [launchctl, "enable", `gui/${uid}/${label}`],
    [launchctl, "bootstrap", `gui/${uid}`, path],
  ];
}

/** Bootstrap says so while the old one is still on its way out. */
const inProgress = /\b(?:36|37)\b|already in progress/i;
const againMs = 500;
const maxTries = 6;

export function launchAgent({ home, uid, exec }: LaunchAgentOptions): LoginItem {
  const path = join(home, "Library", "LaunchAgents", `${label}.plist`);
  const run = (argv: readonly string[]) => exec(argv, { timeoutMs: launchctlMs });

  async function runAgain(argv: readonly string[]): Promise<ExecResult> {
    for (let tried = 1; ; tried++) {
      const ran = await run(argv);
      if (ran.code === 0 || tried === maxTries || !inProgress.test(`${ran.code} ${ran.stderr}`)) return ran;
      await Bun.sleep(againMs);
    }
  }

  return {
    async enable(wish) {
      putFile(path, Buffer.from(plistText(wish)), 0o600);
      const [bootout = [], enable = [], bootstrap = []] = enablePlan(uid, path);
      await run(bootout);
      await run(enable);
      const { code, stderr } = await runAgain(bootstrap);
      if (code === 0) return `beckon runs, and starts when you log in (${path})`;
      // At the next login launchd reads the folder by itself.
      return `beckon starts when you log in (${path}); now it could not be started: ${stderr.trim() || code}`;
    },

    async disable() {
      const isThere = existsSync(path);
      // Also where the file is gone: what was loaded from it still is.
      const loaded = await run([launchctl, "print", `gui/${uid}/${label}`]);
      // To unload it would end the app, and nobody asked for that: it is gone with the login session.
      const isRunning = /^\s*state = running$/m.test(loaded.stdout);
      if (loaded.code === 0 && !isRunning) await run([launchctl, "bootout", `gui/${uid}/${label}`]);
      rmSync(path, { force: true });
      if (!isThere && (loaded.code !== 0 || isRunning)) return null;
      return `beckon no longer starts when you log in (${path} is removed)`;
    },

    async state() {
      if (!existsSync(path)) return notThere;
      const binary = binaryIn(readFileSync(path, "utf8"));
      const { stdout } = await run([launchctl, "print-disabled", `gui/${uid}`]);
      if (isDisabled(stdout)) {
        const problem = `launchd has ${label} disabled. To turn it on: beckon --install --login`;
        return { on: false, turnedOff: true, binary, problem };
      }
      const isGone = binary !== null && !existsSync(binary);
      const problem = isGone ? `${path} starts ${binary}, which is not there. Run: beckon --install` : null;
      return { on: binary !== null, turnedOff: false, binary, problem };
    },
  };
}

/** Older systems print true and false. */
function isDisabled(printed: string): boolean {
  return printed.split("\n").some((line) => /^\s*"local\.beckon"\s*=>\s*(?:disabled|true)\s*$/.test(line));
}
