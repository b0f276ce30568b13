/** The terminals of this machine, and the one that doctor runs in. */
import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { FocusOutcome } from "../core/view/focus-text.ts";
import { type Known, terminalsHere } from "../desktop/terminals/here.ts";
import { createTerminals } from "../desktop/terminals/index.ts";
import { describe } from "../hook/meta.ts";
import { type Env, homeOf } from "../system/home.ts";
import { readStartTime } from "../system/processes.ts";

export function terminalsOf(env: Env, usesKitty: boolean): readonly Known[] {
  const config =
    env.KITTY_CONFIG_DIRECTORY || join(env.XDG_CONFIG_HOME || join(homeOf(env), ".config"), "kitty");
  return terminalsHere({
    platform: process.platform,
    env,
    usesKitty,
    kittyConf: read(join(config, "kitty.conf")),
    has: (program) =>
      isAbsolute(program) ? existsSync(program) : Bun.which(program, { PATH: env.PATH ?? "" }) !== null,
  });
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** By this terminal's own environment: where no app can be asked. */
export function ownReach(env: Env): Promise<FocusOutcome> {
  const { env: variables } = describe(null, env) as { env: Record<string, string> };
  const place = {
    local: true,
    pid: process.pid,
    procStart: readStartTime(process.pid),
    tty: null,
    terminalSessionId: null,
    env: variables,
  };
  return createTerminals({ env }).reach({ place, cwd: null, title: null });
}
