/** The steps of an uninstall. Each may throw: the next ones run all the same. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { type Agent, type AgentSetup, type Scope, scopes } from "../agents/agent.ts";
import { limits } from "../core/limits.ts";
import { isShared } from "../setup/purge.ts";
import { type InstalledFile, type InstallRecord, writeInstallRecord } from "../setup/record.ts";
import { planUnregister, type UnregisterOutcome, unregister } from "../setup/register.ts";
import { planRemoval, removeProgram } from "../setup/remove-program.ts";
import { errorCode, ignoreErrors, readSmallFile, removeEmptyFolders, removeTree } from "../storage/files.ts";
import { markOff } from "../storage/off-marker.ts";
import type { Paths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { exec } from "../system/exec.ts";
import { type Env, homeOf } from "../system/home.ts";
import { isAtLogin, takeLoginAway } from "./install-login.ts";
import { stopRunning } from "./stop.ts";

export interface Uninstall {
  readonly paths: Paths;
  readonly env: Env;
  /** null if the current folder is gone. */
  readonly cwd: string | null;
  readonly agents: readonly LoadedSetup[];
  readonly record: InstallRecord | null;
  /** Only the hooks of this scope and these agents; null means all. */
  readonly scope: Scope | null;
  readonly selected: readonly string[] | null;
  readonly isDryRun: boolean;
  /** False if BECKON_HOME names a folder that beckon never used: a file with the name of one of beckon's is not beckon's. */
  readonly isOwnFolder: boolean;
  /** Settings files that could not be changed. What is recorded about them is kept. */
  readonly stuck: Set<string>;
  /** Settings files without beckon's hooks now. */
  readonly cleared: Set<string>;
  readonly report: (line: string) => void;
  readonly fail: (line: string) => void;
}

export interface LoadedSetup {
  readonly agent: Agent;
  readonly setup: AgentSetup;
}

type Step = (work: Uninstall) => Promise<void>;

async function stopApp({ paths, isDryRun, isOwnFolder, report }: Uninstall): Promise<void> {
  if (!isOwnFolder) return;
  if (isDryRun) {
    if (readEndpoint(paths)) report("Would stop beckon.");
    return;
  }
  // A session that starts before its hooks are removed must not start the app again.
  if (existsSync(paths.state)) ignoreErrors(() => markOff(paths, "beckon --uninstall"));
  const outcome = await stopRunning(paths);
  if (outcome === "stopped") report("Stopped beckon.");
  else if (outcome !== "not running") throw new Error(outcome);
}

type Sentences = Readonly<Record<"done" | "planned", (path: string) => string>>;

const outcomeTexts: Readonly<Record<Exclude<UnregisterOutcome, "nothing">, Sentences>> = {
  restored: {
    done: (path) => `${path} is as it was before.`,
    planned: (path) => `Would put ${path} back as it was before.`,
  },
  removed: {
    done: (path) => `Removed ${path}, which was made for the hooks.`,
    planned: (path) => `Would remove ${path}, which was made for the hooks.`,
  },
  entries: {
    done: (path) => `Took beckon's hooks out of ${path}, and left the rest of it.`,
    planned: (path) => `Would take beckon's hooks out of ${path}, and leave the rest of it.`,
  },
};

async function removeHooks(work: Uninstall): Promise<void> {
  const { env, paths, record, isDryRun, report } = work;
  const home = homeOf(env);
  const otherHomes = new Set<string>();
  for (const { path, setup, recorded } of listFiles(work)) {
    const options = { path, entries: setup.entries, recorded };
    const homes = findHomes(options);
    try {
      const { outcome, backup } = isDryRun
        ? { outcome: await planUnregister(options, home), backup: null }
        : await unregister(options, paths, { home });
      work.cleared.add(path);
      if (outcome === "nothing") continue;
      report(outcomeTexts[outcome][isDryRun ? "planned" : "done"](path));
      if (backup) report(`  The file as it was: ${backup}`);
      for (const other of homes) if (other !== paths.state && existsSync(other)) otherHomes.add(other);
    } catch (error) {
      // A broken file that beckon never wrote into is not beckon's concern.
      if (!recorded && !readText(path).includes("beckon")) continue;
      work.stuck.add(path);
      work.fail(`the hooks are still in ${path}: ${(error as Error).message}`);
    }
  }
  for (const other of otherHomes) {
    report(
      `Those hooks belonged to the beckon in ${other}, which stays. To remove it: BECKON_HOME='${other}' beckon --uninstall`,
    );
  }
  if (isDryRun) return;
  // Two files can be in a folder that was made for the first of them.
  for (const { path, madeFolder } of record?.files ?? []) {
    if (work.cleared.has(path)) removeEmptyFolders(dirname(path), madeFolder);
  }
}

interface AgentFile {
  readonly path: string;
  readonly setup: AgentSetup;
  readonly recorded: InstalledFile | null;
}

/** The files that install wrote, and those where a user can have put hooks by hand. */
function listFiles(work: Uninstall): readonly AgentFile[] {
  const { env, cwd, agents, record, scope, selected } = work;
  const files = new Map<string, AgentFile>();
  for (const { agent, setup } of agents) {
    if (selected !== null && !selected.includes(agent.id)) continue;
    for (const known of scopes) {
      if ((scope !== null && scope !== known) || (cwd === null && known !== "user")) continue;
      const path = setup.settingsPath(known, env, cwd ?? "");
      if (path !== null) files.set(path, { path, setup, recorded: null });
    }
    for (const recorded of record?.files ?? []) {
      if (recorded.agent !== agent.id || (scope !== null && scope !== recorded.scope)) continue;
      files.set(recorded.path, { path: recorded.path, setup, recorded });
    }
  }
  return [...files.values()];
}

/** The BECKON_HOME of each of beckon's hooks in the file. */
function findHomes({ path, entries }: { path: string; entries: AgentSetup["entries"] }): string[] {
  try {
    return entries.findHomes(readText(path)).filter((home) => home !== null);
  } catch {
    return [];
  }
}

function readText(path: string): string {
  try {
    return readSmallFile(path, limits.maxAgentSettingsBytes);
  } catch {
    return "";
  }
}

async function forgetFiles({ paths, record, cleared, isDryRun }: Uninstall): Promise<void> {
  if (isDryRun || !record) return;
  const files = record.files.filter(({ path }) => !cleared.has(path));
  if (files.length < record.files.length) writeInstallRecord(paths, { ...record, files });
}

async function removeLogin({ isDryRun, env, paths, report }: Uninstall): Promise<void> {
  if (!isDryRun) {
    const done = await takeLoginAway(env, paths);
    if (done) report(`${done}.`);
  } else if (await isAtLogin(env, paths)) {
    report("Would keep beckon from starting when you log in.");
  }
}

async function removeBinary({ record, stuck, isDryRun, report }: Uninstall): Promise<void> {
  const plan = await planRemoval(record, exec);
  if (!plan) return;
  // The user needs it to try again.
  if (stuck.size > 0) return report(`${plan.binary} stays until the hooks that call it are gone.`);
  if (plan.staysAs) return report(`${plan.binary} stays: ${plan.staysAs}.`);
  if (!isDryRun) removeProgram(plan, record?.copy?.madeFolder ?? null);
  report(`${isDryRun ? "Would remove" : "Removed"} ${plan.binary}.`);
}

async function removeRegistry({ isDryRun }: Uninstall): Promise<void> {
  if (process.platform !== "win32" || isDryRun) return;
  const [{ removeRegistryKeys }, { registryKeys }] = await Promise.all([
    import("../desktop/windows/registry.ts"),
    import("../desktop/windows/toast.ts"),
  ]);
  removeRegistryKeys(registryKeys);
}

async function removeOwnFiles({ paths, env, stuck, isDryRun, isOwnFolder, fail }: Uninstall): Promise<void> {
  if (isDryRun || !isOwnFolder || !existsSync(paths.state)) return;
  const { helpers, off, launching } = paths;
  const folders = env.BECKON_HOME && isShared(paths) ? [] : [helpers];
  for (const path of [...folders, off, launching, ...(stuck.size > 0 ? [] : [paths.installed])]) {
    try {
      removeTree(path);
    } catch (error) {
      fail(`${path} cannot be removed (${errorCode(error)})`);
    }
  }
}

/** Runs last, when no file of beckon's, not even a lock, is left in the folders. */
export function removeOwnFolders({ paths, record, isDryRun, isOwnFolder }: Uninstall): void {
  if (isDryRun || !isOwnFolder) return;
  removeEmptyFolders(paths.backups, paths.backups);
  removeEmptyFolders(paths.state, record?.madeFolder ?? paths.state);
}

export const allSteps: readonly Step[] = [
  stopApp,
  removeHooks,
  removeLogin,
  removeBinary,
  removeRegistry,
  removeOwnFiles,
];

/** With --scope or --agent: everything else stays, so that other hooks go on working. */
export const hookSteps: readonly Step[] = [removeHooks, forgetFiles];
