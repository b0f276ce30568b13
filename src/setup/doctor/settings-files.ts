/** The agent's settings files as doctor sees them: those of the person, of the folder they are in, of their administrator. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { scopes, settingsPath } from "../../agents/claude/setup/scope.ts";
import { managedPlaces } from "../../agents/claude/setup/warnings.ts";
import { limits } from "../../core/limits.ts";
import { mentionsBeckon, readHookCommand } from "../../settings-file/hook-command.ts";
import { listOwnHooks } from "../../settings-file/hooks.ts";
import { errorCode, readSmallFile } from "../../storage/files.ts";
import { type Paths, resolvePaths as pathsOf } from "../../storage/paths.ts";
import { type Env, homeOf } from "../../system/home.ts";
import type { Called, SettingsFacts } from "./hooks.ts";

type Fields = Readonly<Record<string, unknown>>;

export function lookAtSettings(env: Env, cwd: string | null): readonly SettingsFacts[] {
  const home = homeOf(env);
  const own = scopes.flatMap((scope) => {
    // Started in a folder that is gone: there is no project.
    if (cwd === null && scope !== "user") return [];
    return [{ scope, path: settingsPath(scope, env, cwd ?? home) }];
  });
  const managed = managedPlaces(env).map((path) => ({ scope: "managed" as const, path }));
  const seen = new Set<string>();
  return (
    [...own, ...managed]
      // In the home folder the person's file is the project's too.
      .filter(({ path }) => !seen.has(path) && seen.add(path))
      .flatMap(({ scope, path }) => readOne(scope, path) ?? [])
  );
}

function readOne(scope: SettingsFacts["scope"], path: string): SettingsFacts | null {
  const nothing = { scope, path, own: [], around: [], disablesAll: false, managedOnly: false };
  let text: string;
  try {
    text = readSmallFile(path, limits.maxAgentSettingsBytes);
  } catch (error) {
    const code = errorCode(error);
    return code === "ENOENT" || code === "ENOTDIR"
      ? null
      : { ...nothing, problem: `it cannot be read (${code})` };
  }
  if (text.trim() === "") return { ...nothing, problem: null };
  try {
    const own = listOwnHooks(text);
    const settings = fieldsOf(JSON.parse(text));
    return {
      ...nothing,
      problem: null,
      own,
      around: commandsIn(settings).flatMap(({ event, command }) => (mentionsBeckon(command) ? [event] : [])),
      disablesAll: settings.disableAllHooks === true,
      managedOnly: settings.allowManagedHooksOnly === true,
    };
  } catch (error) {
    return { ...nothing, problem: error instanceof Error ? error.message : String(error) };
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function commandsIn(settings: Fields): { readonly event: string; readonly command: string }[] {
  return Object.entries(fieldsOf(settings.hooks)).flatMap(([event, groups]) =>
    list(groups)
      .flatMap((group) => list(fieldsOf(group).hooks))
      .flatMap((hook) => {
        const { command } = fieldsOf(hook);
        return typeof command === "string" ? [{ event, command }] : [];
      }),
  );
}

/** Every command of ours once, and what it leads to. */
export function lookAtCalled(
  files: readonly SettingsFacts[],
  env: Env,
  versionOf: (binary: string) => Promise<string | null>,
): Promise<readonly Called[]> {
  const commands = new Map(
    files.flatMap(({ scope, own }) => own.map(({ command }) => [command, scope] as const)),
  );
  return Promise.all(
    [...commands].flatMap(([command, scope]) => {
      const parts = readHookCommand(command);
      if (parts === null) return [];
      return [calledBy(command, parts, scope, env, versionOf)];
    }),
  );
}

async function calledBy(
  command: string,
  { binary, home }: { readonly binary: string; readonly home: string | null },
  scope: SettingsFacts["scope"],
  env: Env,
  versionOf: (binary: string) => Promise<string | null>,
): Promise<Called> {
  const { state }: Pick<Paths, "state"> = pathsOf(home === null ? env : { ...env, BECKON_HOME: home });
  // With a variable in it, only the shell knows which file it is.
  const found = isAbsolute(binary) ? findProgram(binary) : "ok";
  const mayAsk = found === "ok" && isAbsolute(binary) && (scope === "user" || isThisOne(binary));
  return { command, binary, state, found, version: mayAsk ? await versionOf(binary) : null };
}

/** With a variable in it, only the shell knows which file it is. */
export const canRun = (binary: string): boolean => !isAbsolute(binary) || findProgram(binary) === "ok";

function findProgram(path: string): Called["found"] {
  try {
    if (!statSync(path).isFile()) return "missing";
  } catch {
    return "missing";
  }
  try {
    accessSync(path, constants.X_OK);
    return "ok";
  } catch {
    return "not executable";
  }
}

/** A project's settings can name any program: doctor runs only the person's own. */
export function isThisOne(binary: string, ...trusted: readonly string[]): boolean {
  const real = (path: string): string => {
    try {
      return realpathSync(path);
    } catch {
      return path;
    }
  };
  return [process.execPath, ...trusted].map(real).includes(real(binary));
}
