/** Registers beckon's hooks with Claude Code. Looks at everything first: what cannot be done is said before anything changes. */
import { existsSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { hooksFor } from "../agents/claude/hooks.ts";
import { type ClaudeHere, findClaude } from "../agents/claude/setup/find.ts";
import { type Scope, settingsPath } from "../agents/claude/setup/scope.ts";
import { warningsFor } from "../agents/claude/setup/warnings.ts";
import type { Exec } from "../core/ports.ts";
import { hookCommand } from "../settings-file/hook-command.ts";
import { addHooks, SettingsError, type WantedHook } from "../settings-file/hooks.ts";
import {
  assertWritable,
  type RewriteOptions,
  readStable,
  type SettingsFile,
} from "../settings-file/index.ts";
import { ensurePrivateFolder, ignoreErrors, removeEmptyFolders } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { type Env, homeOf } from "../system/home.ts";
import type { Program } from "./find-program.ts";
import { type BinaryPlan, type PlacedBinary, placeBinary, planBinary } from "./place-binary.ts";
import { inTurn, readInstallRecord } from "./record.ts";
import { register } from "./register.ts";

export interface InstallOptions {
  readonly paths: Paths;
  readonly env: Env;
  readonly cwd: string;
  readonly scope: Scope;
  readonly exec: Exec;
  readonly program: Program;
  /** Of beckon. */
  readonly version: string;
  /** Where else to look; as on this system. */
  readonly managed?: readonly string[];
  readonly usual?: readonly string[];
  readonly rewrite?: Partial<RewriteOptions>;
}

export interface InstallPlan {
  readonly claude: ClaudeHere;
  /** What the hooks are for; null: nothing is known, and the oldest is assumed. */
  readonly claudeVersion: string | null;
  readonly binary: BinaryPlan;
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
  readonly hooks: number;
  readonly warnings: readonly string[];
}

export interface InstallDone extends InstallPlan {
  readonly isChanged: boolean;
  readonly backup: string | null;
}

/** What an install would do. Changes nothing; throws, in words for people, where it could not be done. */
export async function planInstall(options: InstallOptions): Promise<InstallPlan> {
  const { paths, env, cwd, scope } = options;
  const path = settingsPath(scope, env, cwd);
  refuseInsideWsl(path);
  // First, as it is quick and the likeliest to be refused.
  await readStable(path, homeOf(env), ({ text }) => addHooks(text, [])).catch(refused);
  const before = readInstallRecord(paths);
  const claude = await findClaude({ ...options, remembered: before?.claude ?? null });
  const claudeVersion = claude.claude?.version ?? before?.claude?.version ?? null;
  const binary = await planBinary({ ...options, before });
  const wanted = wantedHooks(options, binary.binary, claudeVersion);
  const { file, decision: change } = await readStable(path, homeOf(env), ({ text }) =>
    addHooks(text, wanted),
  );
  if (change.text !== file.text) assertWritable(file);
  return {
    claude,
    claudeVersion,
    binary,
    path,
    before: file.text,
    after: change.text,
    hooks: wanted.length,
    warnings: [...aboutOtherNames(file), ...warningsFor(options)],
  };
}

export async function install(options: InstallOptions): Promise<InstallDone> {
  const plan = await planInstall(options);
  const madeFolder = missingAbove(options.paths.state);
  ensurePrivateFolder(options.paths.state);
  try {
    return await inTurn(options.paths, () => carryOut(options, plan, madeFolder));
  } catch (error) {
    removeEmptyFolders(options.paths.backups, options.paths.backups);
    removeEmptyFolders(options.paths.state, madeFolder);
    throw error;
  }
}

function refused(error: unknown): never {
  const { cause, message } = error as Error;
  throw cause instanceof SettingsError ? new Error(`${message}. Nothing was changed.`, { cause }) : error;
}

/** The topmost folder on the way that is not there; null: all are. */
function missingAbove(folder: string): string | null {
  if (existsSync(folder)) return null;
  return missingAbove(dirname(folder)) ?? folder;
}

async function carryOut(
  options: InstallOptions,
  plan: InstallPlan,
  madeFolder: string | null,
): Promise<InstallDone> {
  const { paths, env, scope, version } = options;
  const before = readInstallRecord(paths);
  const placed = await placeBinary({ ...options, before });
  const { binary } = placed.plan;
  const about = {
    version,
    binary,
    copy: placed.copy,
    home: homeGiven(options),
    claude: plan.claude.claude ?? before?.claude ?? null,
  };
  try {
    const registered = await register({
      paths,
      path: plan.path,
      scope,
      wanted: wantedHooks(options, binary, plan.claudeVersion),
      about,
      madeFolder,
      rewrite: { home: homeOf(env), ...options.rewrite },
    });
    return {
      ...plan,
      binary: placed.plan,
      isChanged: registered !== null,
      backup: registered?.backup ?? null,
      warnings: [...placed.warnings, ...plan.warnings],
    };
  } catch (error) {
    takeBack(placed);
    throw error;
  }
}

/** Nobody would call it. One that it replaced was beckon too, and older. */
function takeBack({ plan, copy }: PlacedBinary): void {
  if (plan.do !== "copy" || plan.replaces !== null || !copy) return;
  ignoreErrors(() => rmSync(plan.binary, { force: true }));
  removeEmptyFolders(dirname(plan.binary), copy.madeFolder);
}

const homeGiven = ({ env, paths }: InstallOptions): string | null => (env.BECKON_HOME ? paths.state : null);

function wantedHooks(options: InstallOptions, binary: string, claudeVersion: string | null): WantedHook[] {
  const system = process.platform === "win32" ? "win32" : "linux";
  const command = hookCommand({ binary, agent: "claude", home: homeGiven(options) }, system);
  return hooksFor(claudeVersion).map((entry) => ({ ...entry, command }));
}

/** Started from inside WSL this is still a program of Windows, and its path is nothing that a shell in there could run. */
function refuseInsideWsl(path: string): void {
  if (process.platform === "win32" && /^[\\/]{2}wsl(\$|\.localhost)[\\/]/i.test(path)) {
    throw new Error(
      `${path} lies inside WSL, and this is beckon for Windows. In WSL, install the build for Linux.`,
    );
  }
}

function aboutOtherNames({ hasHardLinks, target }: SettingsFile): string[] {
  return hasHardLinks
    ? [`${target} has another name on this disk (a hard link): that one stays as it is now.`]
    : [];
}
