/** What every other part of the app needs: one app per state folder, its log, its secrets, the user's settings and the agents. */
import type { Agent } from "../agents/agent.ts";
import { defaultAgent, agents as everyAgent, type LoadedAgents, loadAgents } from "../agents/index.ts";
import type { Config } from "../core/config/config.ts";
import type { ClockReading } from "../core/session/event.ts";
import { type ConfigFile, watchConfig } from "../storage/config-file.ts";
import { ensurePrivateFolder } from "../storage/files.ts";
import { acquireLock, type Lock } from "../storage/lock.ts";
import { type Log, openLog } from "../storage/log.ts";
import type { Paths } from "../storage/paths.ts";
import { clearStateFolder } from "../storage/state-folder.ts";
import { createClock } from "../system/clock.ts";
import { createSecret, loadOrCreateToken } from "../system/endpoint.ts";
import { type Env, homeOf } from "../system/folders.ts";
import { nameInstallation } from "../system/installation.ts";

export interface AppOptions {
  readonly paths: Paths;
  readonly env: Env;
  readonly port: number;
  /** Also print the log's warnings and errors. */
  readonly echo: boolean;
  /** A hook has started it, with variables that a project's settings may have set. */
  readonly isFromHook?: boolean;
  /** The sessions are invented: icon, menu and page say so. */
  readonly isDemo?: boolean;
  /** The agents to understand; all that beckon has if absent. */
  readonly table?: readonly Agent[];
}

export interface Base {
  readonly options: AppOptions;
  readonly paths: Paths;
  readonly env: Env;
  /** The user's home folder. */
  readonly home: string;
  readonly clock: () => ClockReading;
  readonly lock: Lock;
  readonly log: Log;
  readonly onProblem: (text: string) => void;
  readonly onError: (text: string) => void;
  /** Requests carry it. */
  readonly token: string;
  /** Names this installation to linked machines. Says nothing about it, and stays the same as long as its state folder does. */
  readonly machineId: () => string;
  /** Decisions are signed with it. */
  readonly decisionKey: string;
  readonly configFile: ConfigFile;
  readonly config: () => Config;
  readonly table: readonly Agent[];
  readonly agents: LoadedAgents;
  /** The agent of a payload that names none. */
  readonly defaultProvider: string;
}

/** Resolves with null if another beckon uses this state folder. */
export async function openBase(options: AppOptions): Promise<Base | null> {
  const { paths, env } = options;
  ensurePrivateFolder(paths.state);
  const lock = acquireLock(paths);
  if (!lock) return null;
  const cleared = clearStateFolder(paths);
  const log = openLog(paths.log, { echo: options.echo });
  const onProblem = (text: string) => log("warn", text);
  for (const sentence of cleared) onProblem(sentence);
  const token = loadOrCreateToken(paths);
  const configFile = watchConfig(paths.config);
  const logSettings = () => {
    for (const problem of configFile.problems()) onProblem(problem);
    if (configFile.problems().length === 0) log("info", "the settings are read");
  };
  logSettings();
  configFile.subscribe(logSettings);
  const table = options.table ?? everyAgent;
  return {
    options,
    paths,
    env,
    home: homeOf(env),
    clock: createClock({ installation: nameInstallation(token) }),
    lock,
    log,
    onProblem,
    onError: (text) => log("error", text),
    token,
    machineId: () => nameInstallation(token),
    decisionKey: createSecret(),
    configFile,
    config: configFile.config,
    table,
    agents: await loadAgents(table),
    defaultProvider: env.BECKON_PROVIDER || defaultAgent,
  };
}
