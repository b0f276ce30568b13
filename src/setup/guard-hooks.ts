/**
 * The hooks of the work guard: registered while its settings ask for them, and removed when they do not. A project's hooks are
 * in the project's own settings for this user, so that no other project has to wait for them.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Agent, AgentSetup, GuardHooks, Registration, Scope } from "../agents/agent.ts";
import type { Config } from "../core/config/config.ts";
import {
  answersAtStart,
  asksBeforeEdits,
  findGuardSettings,
  type GuardSettings,
} from "../core/config/work-guard.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type { Paths } from "../storage/paths.ts";
import { type Env, homeOf } from "../system/folders.ts";
import { isGuardOn, readSettings } from "./guard-hooks-needed.ts";
import {
  type InstallRecord,
  readInstallRecord,
  withInstallLock,
  writeInstallRecord,
} from "./install-record.ts";
import { register, unregister } from "./register.ts";

export interface GuardHooksOptions {
  /** The table of agents. */
  readonly agents: readonly Agent[];
  readonly paths: Paths;
  readonly env: Env;
  readonly config: Config["workGuard"];
}

/** Sentences for the log and the user. */
export interface GuardHooksResult {
  readonly changes: readonly string[];
  readonly problems: readonly string[];
}

interface WantedFile {
  readonly path: string;
  readonly scope: Scope;
  readonly hooks: GuardHooks;
}

const noHooks: GuardHooks = { edits: false, starts: false, documents: false };

const hooksOf = (settings: GuardSettings): GuardHooks => ({
  edits: asksBeforeEdits(settings),
  starts: answersAtStart(settings),
  documents: settings.mode !== "off",
});

const hasHooks = ({ edits, starts, documents }: GuardHooks): boolean => edits || starts || documents;

/** Registers and removes hooks as the settings say. A file that cannot be changed is a problem, and the others go on. */
export async function updateGuardHooks(options: GuardHooksOptions): Promise<GuardHooksResult> {
  const { paths, agents, config } = options;
  const changes: string[] = [];
  const problems: string[] = [];
  if (readInstallRecord(paths) === null) {
    if (isGuardOn(config))
      problems.push("The work guard is on, but beckon's hooks are not. Run: beckon --install");
    return { changes, problems };
  }
  await withInstallLock(paths, async () => {
    for (const agent of agents) {
      const setup = await agent.loadSetup();
      if (!setup.createGuardRegistration) continue;
      const record = readInstallRecord(paths);
      const isInstalled = record?.files.some((file) => file.agent === agent.id) === true;
      if (!record || !isInstalled) continue;
      for (const file of listFiles(agent, setup, record, options)) {
        try {
          const change = await updateFile(agent, setup, file, options);
          if (change !== null) changes.push(change);
        } catch (error) {
          problems.push(`The work guard's hooks in ${file.path}: ${readErrorMessage(error)}`);
        }
      }
    }
  });
  return { changes, problems };
}

/** Every file that should have hooks of the guard, and those that may have some but should not. */
function listFiles(
  { id }: Agent,
  setup: AgentSetup,
  record: InstallRecord,
  { env, config }: GuardHooksOptions,
): readonly WantedFile[] {
  const home = homeOf(env);
  const general = hooksOf(findGuardSettings(config, null));
  const files = new Map<string, WantedFile>();
  const user = setup.settingsPath("user", env, home);
  const add = (path: string | null, scope: Scope, hooks: GuardHooks) => {
    if (path === null) return;
    const { edits, starts, documents } = files.get(path)?.hooks ?? noHooks;
    files.set(path, {
      path,
      scope,
      hooks: {
        edits: edits || hooks.edits,
        starts: starts || hooks.starts,
        documents: documents || hooks.documents,
      },
    });
  };
  for (const { agent, path, scope } of record.files) if (agent === id) add(path, scope, noHooks);
  for (const folder of Object.keys(config.projects)) {
    if (!existsSync(folder)) continue;
    const own = hooksOf(findGuardSettings(config, folder));
    // What all projects have needs no second hook.
    const further = {
      edits: own.edits && !general.edits,
      starts: own.starts && !general.starts,
      documents: own.documents && !general.documents,
    };
    if (!hasHooks(further)) continue;
    // An agent without settings for one user in one project has the hooks everywhere. The guard then approves elsewhere.
    const local = setup.settingsPath("local", env, folder);
    if (local === null) add(user, "user", further);
    else add(local, "local", further);
  }
  if (hasHooks(general)) add(user, "user", general);
  return [...files.values()];
}

/** Returns what was done, or null if nothing had to be. */
async function updateFile(
  agent: Agent,
  setup: AgentSetup,
  { path, scope, hooks }: WantedFile,
  { paths, env }: GuardHooksOptions,
): Promise<string | null> {
  const record = readInstallRecord(paths);
  const text = readSettings(path);
  if (!record || !setup.createGuardRegistration) return null;
  const { version, binary, copy, home, programs } = record;
  const registration: Registration = setup.createGuardRegistration(
    {
      version: programs[agent.id]?.version ?? null,
      binary,
      home,
      platform: process.platform === "win32" ? "win32" : "linux",
    },
    hooks,
  );
  const isWanted = registration.count > 0;
  if (text === null && !isWanted) return null;
  const after = registration.add(text);
  if (after === text) return null;
  const rewrite = { home: homeOf(env) };
  const recorded = record.files.find((file) => file.path === path) ?? null;
  if (!isWanted && setup.entries.findHomes(after).length === 0) {
    await unregister({ path, entries: setup.entries, recorded }, paths, rewrite);
    const rest = readInstallRecord(paths) ?? record;
    writeInstallRecord(paths, { ...rest, files: rest.files.filter((file) => file.path !== path) });
    return `The work guard removed its hooks from ${path}.`;
  }
  const registered = await register({
    paths,
    agent: agent.id,
    path,
    scope: recorded?.scope ?? scope,
    registration,
    entries: setup.entries,
    record: { version, binary, copy, home, programs },
    madeFolder: null,
    rewrite,
  });
  if (registered === null) return null;
  const backup = registered.backup === null ? "" : ` The file as it was: ${registered.backup}`;
  // What keeps the new hooks from running, such as that the user has to trust them first.
  const findWarnings = (content: string) => setup.findWarnings(scope, env, dirname(path), content);
  const known = new Set(findWarnings(text ?? ""));
  const warnings = findWarnings(after).filter((warning) => !known.has(warning));
  const toDo = warnings.map((warning) => ` ${warning}.`).join("");
  return isWanted
    ? `The work guard registered its hooks in ${path}.${toDo}${backup}`
    : `The work guard removed its hooks from ${path}.${backup}`;
}
