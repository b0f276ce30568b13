/** `beckon --uninstall`: removes what install made. A step that fails is reported, and the others still run. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { type Agent, type AgentSetup, type Scope, scopes } from "../agents/agent.ts";
import { formerAgents } from "../agents/setup/former.ts";
import type { MachineSettings } from "../core/config/machines.ts";
import { readErrorMessage } from "../core/error-message.ts";
import { limits } from "../core/limits.ts";
import { quoteForShell } from "../core/text/shell-quote.ts";
import { formatCommandThere, hasShell } from "../machines/link-command.ts";
import { planRemoval, removeBinary } from "../setup/binary.ts";
import {
  type InstalledFile,
  type InstallRecord,
  readInstallRecord,
  withInstallLock,
  writeInstallRecord,
} from "../setup/install-record.ts";
import { forgetFolders } from "../setup/known-folders.ts";
import { clearProfile, findPathLines } from "../setup/profile.ts";
import { isBeckonHere, isShared, planPurge, purge } from "../setup/purge.ts";
import { planUnregister, type UnregisterOutcome, unregister } from "../setup/register.ts";
import { readConfigFile } from "../storage/config-file.ts";
import {
  errorCode,
  ignoreErrors,
  readOr,
  readSmallFile,
  removeEmptyFolders,
  removeTree,
} from "../storage/files.ts";
import { markOff } from "../storage/off-marker.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { exec } from "../system/exec.ts";
import { currentFolder, type Env, homeOf } from "../system/folders.ts";
import { parseArguments, usageError } from "./args.ts";
import { uninstallCommand } from "./commands/setup.ts";
import { hasLogin, removeLogin } from "./login-item.ts";
import { formatLine, printLines } from "./output.ts";
import { readSelection } from "./setup-args.ts";
import { stopRunning } from "./stop.ts";

export async function uninstall(args: string[], table: readonly Agent[]): Promise<number> {
  const { flags, values } = parseArguments(args, uninstallCommand);
  const { scope, selected } = readSelection(values, table);
  const isPartial = scope !== null || selected !== null;
  const isPurge = flags.has("--purge");
  if (isPartial && isPurge) throw usageError("--purge removes everything: it excludes --scope and --agent");
  const isDryRun = flags.has("--dry-run");
  const paths = resolvePaths();
  const lines: string[] = [];
  const failures: string[] = [];
  const isChosen = Boolean(process.env.BECKON_HOME);
  const isOwnFolder = !isChosen || isBeckonHere(paths);
  const hasState = existsSync(paths.state);
  const { machines } = readConfigFile(paths.config).config;
  const current = table.map(async (agent) => ({ agent, setup: await agent.loadSetup() }));
  const loaded = [...(await Promise.all(current)), ...formerAgents];
  const cwd = currentFolder();

  const carryOut = async (): Promise<Uninstall> => {
    const work: Uninstall = {
      paths,
      env: process.env,
      cwd,
      agents: loaded,
      record: readInstallRecord(paths),
      scope,
      selected,
      isDryRun,
      isOwnFolder,
      stuck: new Set(),
      cleared: new Set(),
      report: (line) => lines.push(line),
      fail: (line) => failures.push(line),
    };
    for (const step of isPartial ? hookSteps : allSteps) {
      await step(work).catch((error) => work.fail(readErrorMessage(error)));
    }
    return work;
  };
  const mayLock = hasState && isOwnFolder && !isDryRun;
  const work = await (mayLock ? withLockIfPossible(paths, carryOut) : carryOut());
  if (isPurge) {
    const plan = planPurge(paths, { isChosen, isBeckons: isOwnFolder });
    if (!isDryRun) failures.push(...purge(plan));
    const verb = isDryRun ? "Would remove" : "Removed";
    if (plan.remove.length > 0) lines.push(`${verb} beckon's files in ${plan.folders.join(" and ")}.`);
    lines.push(...plan.kept);
  }
  if (!isPartial) {
    removeOwnFolders(work);
    if (!isPurge && hasState && isOwnFolder && !isDryRun) lines.push(...describeKept(paths, isChosen));
  }
  if (!isPartial && isOwnFolder) lines.push(...describeMachines(machines));
  if (lines.length === 0 && failures.length === 0) lines.push("There is nothing to uninstall.");
  else if (isDryRun) lines.unshift("This is what beckon --uninstall would do. Nothing has been changed.");
  for (const { agent, setup } of loaded) {
    if (selected === null || selected.includes(agent.id))
      lines.push(...setup.findLeftovers(process.env, cwd));
  }
  printLines(lines);
  for (const line of failures) process.stderr.write(`beckon: ${formatLine(line)}\n`);
  return failures.length > 0 ? 1 : 0;
}

/** Waits for an install that is under way. If no lock can be had, on a full disk for example, it goes on without. */
function withLockIfPossible(paths: Paths, carryOut: () => Promise<Uninstall>): Promise<Uninstall> {
  let running: Promise<Uninstall> | null = null;
  const once = () => {
    running ??= carryOut();
    return running;
  };
  return withInstallLock(paths, once).catch(once);
}

type InstalledSetup = Pick<AgentSetup, "settingsPath" | "entries" | "findLeftovers">;

interface Uninstall {
  readonly paths: Paths;
  readonly env: Env;
  /** Null if the current folder is gone. */
  readonly cwd: string | null;
  readonly agents: readonly { readonly agent: Pick<Agent, "id">; readonly setup: InstalledSetup }[];
  readonly record: InstallRecord | null;
  /** Only the hooks of this scope and these agents. Null means all. */
  readonly scope: Scope | null;
  readonly selected: readonly string[] | null;
  readonly isDryRun: boolean;
  /** False if BECKON_HOME names a folder that beckon never used. Files there are not beckon's, whatever their names. */
  readonly isOwnFolder: boolean;
  /** Settings files that could not be changed. What is recorded about them is kept. */
  readonly stuck: Set<string>;
  /** Settings files that have no hooks of beckon's now. */
  readonly cleared: Set<string>;
  readonly report: (line: string) => void;
  readonly fail: (line: string) => void;
}

/** May throw: the next steps run all the same. */
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
    done: (path) => `Restored ${path} as it was before the install.`,
    planned: (path) => `Would restore ${path} as it was before the install.`,
  },
  removed: {
    done: (path) => `Removed ${path}, which the install had created.`,
    planned: (path) => `Would remove ${path}, which the install had created.`,
  },
  entries: {
    done: (path) => `Removed beckon's hooks from ${path}. Everything else in it is unchanged.`,
    planned: (path) => `Would remove beckon's hooks from ${path}, and change nothing else in it.`,
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
      if (backup) report(`  Backup of the file: ${backup}`);
      for (const other of homes) if (other !== paths.state && existsSync(other)) otherHomes.add(other);
    } catch (error) {
      // A broken file that beckon never wrote to does not matter here.
      if (!recorded && !readText(path).includes("beckon")) continue;
      work.stuck.add(path);
      work.fail(`the hooks are still in ${path}: ${(error as Error).message}`);
    }
  }
  for (const other of otherHomes) {
    report(
      `These hooks belonged to the beckon in ${other}, which stays. To remove it: BECKON_HOME='${other}' beckon --uninstall`,
    );
  }
  if (isDryRun) return;
  // Two files can be in a folder that was created for the first of them.
  for (const { path, madeFolder } of record?.files ?? []) {
    if (work.cleared.has(path)) removeEmptyFolders(dirname(path), madeFolder);
  }
}

interface AgentFile {
  readonly path: string;
  readonly setup: InstalledSetup;
  readonly recorded: InstalledFile | null;
}

/** The files that install wrote, and those where a user can have put hooks by hand. */
function listFiles(work: Uninstall): readonly AgentFile[] {
  const { env, cwd, agents: loaded, record, scope, selected } = work;
  const files = new Map<string, AgentFile>();
  for (const { agent, setup } of loaded) {
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

const readText = (path: string): string =>
  readOr(() => readSmallFile(path, limits.maxAgentSettingsBytes), "");

async function forgetFiles({ paths, record, cleared, isDryRun }: Uninstall): Promise<void> {
  if (isDryRun || !record) return;
  const files = record.files.filter(({ path }) => !cleared.has(path));
  if (files.length < record.files.length) writeInstallRecord(paths, { ...record, files });
}

async function removeLoginItem({ isDryRun, env, paths, report }: Uninstall): Promise<void> {
  if (!isDryRun) {
    const done = await removeLogin(env, paths);
    if (done) report(`${done}.`);
  } else if (await hasLogin(env, paths)) {
    report("Would remove the login item.");
  }
}

async function removeInstalledBinary({ record, stuck, isDryRun, report }: Uninstall): Promise<void> {
  const plan = await planRemoval(record, exec);
  if (!plan) return;
  // The user needs it to try again.
  if (stuck.size > 0) return report(`Kept ${plan.binary}, because hooks still call it.`);
  if (plan.keepReason) return report(`Kept ${plan.binary}: ${plan.keepReason}.`);
  if (!isDryRun) removeBinary(plan, record?.copy?.madeFolder ?? null);
  report(`${isDryRun ? "Would remove" : "Removed"} ${plan.binary}.`);
}

/** What the install script added to the user's PATH. */
async function removeFromPath({ env, record, stuck, isDryRun, report }: Uninstall): Promise<void> {
  if (!record?.copy || stuck.size > 0 || process.platform === "win32") return;
  const folder = dirname(record.binary);
  for (const path of await findPathLines(env, folder)) {
    if (!isDryRun) await clearProfile(path, env, folder);
    report(`${isDryRun ? "Would remove" : "Removed"} the line for ${folder} from ${path}.`);
  }
}

async function removeRegistry({ isDryRun }: Uninstall): Promise<void> {
  if (process.platform !== "win32" || isDryRun) return;
  const [{ removeRegistryKeys }, { registryKeys }] = await Promise.all([
    import("../desktop/windows/registry.ts"),
    import("../desktop/windows/toasts.ts"),
  ]);
  removeRegistryKeys(registryKeys);
}

async function removeInstallFiles({
  paths,
  env,
  stuck,
  isDryRun,
  isOwnFolder,
  fail,
}: Uninstall): Promise<void> {
  if (isDryRun || !isOwnFolder || !existsSync(paths.state)) return;
  const { helpers, offMarker: off, launchMarker: launching } = paths;
  const folders = env.BECKON_HOME && isShared(paths) ? [] : [helpers];
  for (const path of [...folders, off, launching, ...(stuck.size > 0 ? [] : [paths.installed])]) {
    try {
      removeTree(path);
    } catch (error) {
      fail(`${path} cannot be removed (${errorCode(error)})`);
    }
  }
}

/** Hooks of other settings files may still name the folder: they use the default one from now on. */
async function forgetFolder({ env, stuck, isDryRun, isOwnFolder }: Uninstall): Promise<void> {
  if (!isDryRun && isOwnFolder && stuck.size === 0) await forgetFolders(env);
}

const allSteps: readonly Step[] = [
  stopApp,
  removeHooks,
  removeLoginItem,
  removeInstalledBinary,
  removeFromPath,
  removeRegistry,
  removeInstallFiles,
  forgetFolder,
];

/** With --scope or --agent: everything else stays, so that other hooks go on working. */
const hookSteps: readonly Step[] = [removeHooks, forgetFiles];

/** Runs last, when no file of beckon's, not even a lock, is left in the folders. */
function removeOwnFolders({ paths, record, isDryRun, isOwnFolder }: Uninstall): void {
  if (isDryRun || !isOwnFolder) return;
  removeEmptyFolders(paths.backups, paths.backups);
  removeEmptyFolders(paths.state, record?.madeFolder ?? paths.state);
}

/** Each has a beckon of its own, which goes on there. */
export function describeMachines(machines: Readonly<Record<string, MachineSettings>>): string[] {
  return Object.entries(machines).map(([name, machine]) => {
    const command = hasShell(machine)
      ? `: ${formatCommandThere(machine, "--uninstall")}`
      : ", run beckon --uninstall there.";
    return `${name} keeps its own beckon. To remove that too${command}`;
  });
}

/** What is left, and how to remove it without the beckon that has just been removed. */
export function describeKept(
  paths: Paths,
  isChosen: boolean,
  platform: NodeJS.Platform = process.platform,
): string[] {
  const { state, config } = paths;
  const configFolder = dirname(config) === state ? null : dirname(config);
  const states = existsSync(state) ? [state] : [];
  const settings = configFolder !== null && existsSync(configFolder) ? [configFolder] : [];
  const folders = [...states, ...settings];
  if (folders.length === 0) return [];
  // A folder that the user chose can be their home folder, so beckon does not suggest to remove it.
  if (isChosen && states.length > 0 && isShared(paths))
    return [`Kept beckon's data, which is among other files in ${state}.`];
  const what = [
    ...states.map(
      (folder) => `beckon's data${configFolder === null ? " and your settings" : ""} (${folder})`,
    ),
    ...settings.map((folder) => `your settings (${folder})`),
  ].join(" and ");
  const them = folders.length > 1 ? "them" : "it";
  return [`Kept ${what}. To remove ${them} too: ${createRemovalCommand(folders, platform)}`];
}

function createRemovalCommand(folders: readonly string[], platform: NodeJS.Platform): string {
  if (platform === "win32") return `rmdir /s /q ${folders.map((folder) => `"${folder}"`).join(" ")}`;
  return `rm -r ${folders.map(quoteForShell).join(" ")}`;
}
