/** What the work guard needs of the installed beckon: its hooks, and how agents can call it. */
import { basename, delimiter, dirname } from "node:path";
import type { Agent } from "../agents/agent.ts";
import type { Config } from "../core/config/config.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type { Sink } from "../core/interfaces/index.ts";
import { quoteForShell } from "../core/text/shell-quote.ts";
import { mayNeedGuardHooks } from "../setup/guard-hooks-needed.ts";
import { readInstallRecord } from "../setup/install-record.ts";
import type { Paths } from "../storage/paths.ts";
import type { Env } from "../system/folders.ts";

/** Returns `beckon` if agents find it by that name, otherwise its path. */
export function createGuardCommand(env: Env): (binary: string | null) => string {
  const folders = new Set((env.PATH ?? env.Path ?? "").split(delimiter));
  return (binary) => {
    if (binary === null) return "beckon";
    const isFound = folders.has(dirname(binary)) && basename(binary).replace(/\.exe$/i, "") === "beckon";
    return isFound ? "beckon" : quoteForShell(binary);
  };
}

export interface GuardHooksKeeper extends Sink {
  /** Registers or removes hooks, as the settings say now. */
  update(): void;
  /** Why hooks are missing, or still there. Empty if all is well. */
  problems(): readonly string[];
}

export function createGuardHooksKeeper(options: {
  readonly table: readonly Agent[];
  readonly paths: Paths;
  readonly env: Env;
  readonly config: () => Config;
  readonly onChange: (sentence: string) => void;
  readonly onProblem: (sentence: string) => void;
}): GuardHooksKeeper {
  let problems: readonly string[] = [];
  let lastSettings = "";
  let wasInstalled = true;
  let work = Promise.resolve();

  async function update(): Promise<void> {
    const { workGuard: config } = options.config();
    const isInstalled = readInstallRecord(options.paths) !== null;
    const settings = JSON.stringify({ config, isInstalled });
    if (settings === lastSettings) return;
    lastSettings = settings;
    wasInstalled = isInstalled;
    try {
      if (!mayNeedGuardHooks(options.paths, config)) {
        problems = [];
        return;
      }
      const { updateGuardHooks } = await import("../setup/guard-hooks.ts");
      const result = await updateGuardHooks({ ...options, agents: options.table, config });
      problems = result.problems;
      for (const sentence of result.changes) options.onChange(sentence);
    } catch (error) {
      problems = [`The work guard's hooks could not be changed: ${readErrorMessage(error)}`];
    }
    for (const sentence of problems) options.onProblem(sentence);
  }

  function updateLater(): void {
    work = work.then(update);
  }

  /** `beckon --install` runs beside the app: the guard then gets its hooks, and what was missing is not missing any more. */
  function followInstall(): void {
    if (problems.length === 0 || wasInstalled || readInstallRecord(options.paths) === null) return;
    wasInstalled = true;
    problems = [];
    updateLater();
  }

  return {
    name: "guard hooks",
    update: updateLater,
    onSettingsChanged: updateLater,
    onChange: followInstall,
    problems() {
      followInstall();
      return problems;
    },
  };
}
