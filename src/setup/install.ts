/**
 * Setup: install, uninstall and doctor, for every agent of the table. Here is the install: it checks everything first, so that
 * an install that cannot succeed changes nothing. register.ts changes one settings file, binary.ts places the program,
 * install-record.ts remembers what was done, purge.ts removes beckon's own files, and doctor/ has the checks.
 */
import { existsSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Agent, AgentSetup, ProgramSearch, Registration, Scope } from "../agents/agent.ts";
import type { Exec } from "../core/interfaces/index.ts";
import { ensurePrivateFolder, ignoreErrors, removeEmptyFolders } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { type Env, homeOf } from "../system/folders.ts";
import { SettingsError } from "../user-files/hooks.ts";
import { assertWritable, type RewriteOptions, readStable, type SettingsFile } from "../user-files/index.ts";
import {
  type BinaryPlan,
  type InstalledProgram,
  type PlacedBinary,
  placeBinary,
  planBinary,
} from "./binary.ts";
import { type InstallRecord, readInstallRecord, withInstallLock } from "./install-record.ts";
import { refuseOutside, register } from "./register.ts";

export interface InstallOptions {
  /** The table of agents. */
  readonly agents: readonly Agent[];
  /** The ids that the user named. null for every agent on this machine. */
  readonly selected: readonly string[] | null;
  readonly paths: Paths;
  readonly env: Env;
  readonly cwd: string;
  readonly scope: Scope;
  readonly exec: Exec;
  readonly program: InstalledProgram;
  /** Something else has put the program where it is for this install: the install script, or another machine. */
  readonly isPlaced?: boolean;
  /** beckon's version. */
  readonly version: string;
  /** Whether beckon reads along in the agents' status lines. Absent to leave them as they are. */
  readonly statusLine?: boolean | undefined;
  readonly rewrite?: Partial<RewriteOptions>;
}

export interface InstallPlan {
  readonly binary: BinaryPlan;
  readonly agents: readonly AgentPlan[];
  readonly warnings: readonly string[];
}

export interface AgentPlan {
  readonly agent: Agent;
  readonly setup: AgentSetup;
  readonly search: ProgramSearch;
  /** The version that the registration is for. null if unknown. */
  readonly version: string | null;
  readonly path: string;
  readonly registration: Registration;
  /** The file's text now and after the install. `before` is null if there is no file. */
  readonly before: string | null;
  readonly after: string;
}

export interface InstallResult extends InstallPlan {
  readonly agents: readonly AgentResult[];
}

export interface AgentResult extends AgentPlan {
  readonly isChanged: boolean;
  readonly backup: string | null;
}

/** What an install would do. Changes nothing. Throws an error for the user if it cannot be done. */
export async function planInstall(options: InstallOptions): Promise<InstallPlan> {
  const { env, cwd, scope } = options;
  const record = readInstallRecord(options.paths);
  const found = await selectAgents(options, record);
  const warnings: string[] = [];
  const targets = await checkTargets(found, options, warnings);
  const binary = await planBinary({ ...options, before: record });
  const agents: AgentPlan[] = [];
  for (const target of targets) {
    const { setup, path } = target;
    const registration = createRegistration(target, binary.binary, options);
    const { file, decision: after } = await readStable(path, homeOf(env), ({ text }) =>
      registration.add(text),
    );
    if (after !== file.text) assertWritable(file);
    agents.push({ ...target, registration, before: file.text, after });
    warnings.push(...warnOfHardLink(file), ...setup.findWarnings(scope, env, cwd, after));
  }
  return { binary, agents, warnings };
}

/** `onPlan` is called before anything is changed. */
export async function install(
  options: InstallOptions,
  onPlan: (plan: InstallPlan) => void = () => {},
): Promise<InstallResult> {
  const plan = await planInstall(options);
  onPlan(plan);
  const { paths } = options;
  const madeFolder = findMissingFolder(paths.state);
  ensurePrivateFolder(paths.state);
  try {
    return await withInstallLock(paths, () => carryOut(options, plan, madeFolder));
  } catch (error) {
    removeEmptyFolders(paths.backups, paths.backups);
    removeEmptyFolders(paths.state, madeFolder);
    throw error;
  }
}

type FoundAgent = Pick<AgentPlan, "agent" | "setup" | "search" | "version">;

/** The agents that the user named, or those on this machine. If there is none, the first of the table. */
async function selectAgents(
  { agents, selected, env, exec }: InstallOptions,
  record: InstallRecord | null,
): Promise<readonly FoundAgent[]> {
  const candidates = agents.filter(({ id }) => selected === null || selected.includes(id));
  const found = await Promise.all(
    candidates.map(async (agent) => {
      const setup = await agent.loadSetup();
      const remembered = record?.programs[agent.id] ?? null;
      const search = await setup.findProgram({ env, exec, remembered });
      const version = search.program?.version ?? remembered?.version ?? null;
      const isPresent = version !== null || search.silent.length > 0 || setup.isPresent(env);
      return { agent, setup, search, version, isPresent };
    }),
  );
  const present = found.filter(({ isPresent }) => isPresent || selected !== null);
  return present.length > 0 ? present : found.slice(0, 1);
}

type Target = FoundAgent & { readonly path: string };

/**
 * An agent that the user did not name, and whose settings cannot be changed, does not keep the others from being connected. A
 * warning says why it was left out.
 */
async function checkTargets(
  found: readonly FoundAgent[],
  options: InstallOptions,
  warnings: string[],
): Promise<readonly Target[]> {
  const results = await Promise.allSettled(found.map((agent) => checkTarget(agent, options)));
  const targets = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const failures = results.flatMap((result, n) =>
    result.status === "rejected" ? [{ name: found[n]?.agent.name ?? "", error: result.reason as Error }] : [],
  );
  const [first] = failures;
  if (first && (options.selected !== null || targets.length === 0)) throw first.error;
  for (const { name, error } of failures) warnings.push(`${name} is not connected: ${error.message}`);
  return targets;
}

async function checkTarget(found: FoundAgent, { scope, env, cwd }: InstallOptions): Promise<Target> {
  const { agent, setup } = found;
  const path = setup.settingsPath(scope, env, cwd);
  if (path === null) throw new Error(`${agent.name} has no settings of the scope ${scope}`);
  refuseInsideWsl(path);
  await readStable(path, homeOf(env), (file) => {
    refuseOutside(file, scope);
    return setup.entries.findHomes(file.text ?? "");
  }).catch(refuse);
  return { ...found, path };
}

function refuse(error: unknown): never {
  const { cause, message } = error as Error;
  throw cause instanceof SettingsError ? new Error(`${message}. Nothing was changed.`, { cause }) : error;
}

/** The topmost folder of the path that does not exist. null if all exist. */
function findMissingFolder(folder: string): string | null {
  if (existsSync(folder)) return null;
  return findMissingFolder(dirname(folder)) ?? folder;
}

async function carryOut(
  options: InstallOptions,
  plan: InstallPlan,
  madeFolder: string | null,
): Promise<InstallResult> {
  const { paths, env, scope, version } = options;
  const before = readInstallRecord(paths);
  const placed = await placeBinary({ ...options, before });
  const { binary } = placed.plan;
  const found = plan.agents.flatMap(({ agent, search }) =>
    search.program ? [[agent.id, search.program] as const] : [],
  );
  const programs = { ...before?.programs, ...Object.fromEntries(found) };
  const agents: AgentResult[] = [];
  try {
    for (const agentPlan of plan.agents) {
      const registered = await register({
        paths,
        agent: agentPlan.agent.id,
        path: agentPlan.path,
        scope,
        registration: createRegistration(agentPlan, binary, options),
        entries: agentPlan.setup.entries,
        record: { version, binary, copy: placed.copy, home: homeSetting(options), programs },
        madeFolder,
        rewrite: { home: homeOf(env), ...options.rewrite },
      });
      agents.push({
        ...agentPlan,
        isChanged: registered !== null,
        backup: registered?.backup ?? null,
      });
    }
  } catch (error) {
    if (agents.length === 0) removeCopy(placed);
    throw error;
  }
  return { agents, binary: placed.plan, warnings: [...placed.warnings, ...plan.warnings] };
}

/** Nothing calls the copy. If it replaced an older beckon, it stays: the older one is gone. */
function removeCopy({ plan, copy }: PlacedBinary): void {
  if (plan.do !== "copy" || plan.replaces !== null || !copy) return;
  ignoreErrors(() => rmSync(plan.binary, { force: true }));
  removeEmptyFolders(dirname(plan.binary), copy.madeFolder);
}

const homeSetting = ({ env, paths }: InstallOptions): string | null => (env.BECKON_HOME ? paths.state : null);

function createRegistration(
  { setup, version }: FoundAgent,
  binary: string,
  options: InstallOptions,
): Registration {
  const platform = process.platform === "win32" ? "win32" : "linux";
  const { statusLine } = options;
  const { guardScope } = options.paths;
  const home = homeSetting(options);
  return setup.createRegistration({ version, binary, home, platform, statusLine, guardScope });
}

/** Started from inside WSL this is still a program of Windows: a shell in WSL could not run its path. */
function refuseInsideWsl(path: string): void {
  if (process.platform === "win32" && /^[\\/]{2}wsl(\$|\.localhost)[\\/]/i.test(path)) {
    throw new Error(
      `${path} is inside WSL, and this is beckon for Windows. In WSL, install the build for Linux.`,
    );
  }
}

function warnOfHardLink({ hasHardLinks, target }: SettingsFile): string[] {
  return hasHardLinks
    ? [`${target} has another name on this disk (a hard link): that one keeps its old text.`]
    : [];
}
