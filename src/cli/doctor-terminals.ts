/** The terminals that are installed on this machine, and the one that doctor runs in. */
import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { pickTerminalVariables } from "../core/terminal-variables.ts";
import type { InstalledTerminal } from "../core/terminals.ts";
import type { FocusOutcome } from "../core/view/focus-text.ts";
import { createTerminals } from "../desktop/terminals/index.ts";
import { listInstalledTerminals } from "../desktop/terminals/installed.ts";
import { type Env, homeOf } from "../system/home.ts";
import { readStartTime } from "../system/processes.ts";

export function findInstalledTerminals(env: Env, usesKitty: boolean): readonly InstalledTerminal[] {
  const config =
    env.KITTY_CONFIG_DIRECTORY || join(env.XDG_CONFIG_HOME || join(homeOf(env), ".config"), "kitty");
  return listInstalledTerminals({
    platform: process.platform,
    env,
    usesKitty,
    kittyConf: readIfPresent(join(config, "kitty.conf")),
    has: (program) =>
      isAbsolute(program) ? existsSync(program) : Bun.which(program, { PATH: env.PATH ?? "" }) !== null,
  });
}

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** How far focus would get to the terminal that doctor runs in. For when no app runs that could be asked. */
export function tryOwnTerminal(env: Env): Promise<FocusOutcome> {
  const place = {
    local: true,
    pid: process.pid,
    procStart: readStartTime(process.pid),
    tty: null,
    terminalSessionId: null,
    env: pickTerminalVariables(env),
  };
  return createTerminals({ env }).dryRunFocus({ place, cwd: null, title: null });
}
