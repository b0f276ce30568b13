/** Reads Claude Code's settings files for doctor: the user's, the current project's and the administrator's. */
import { isAbsolute } from "node:path";
import { readErrorMessage } from "../../../core/error-message.ts";
import { asRecord } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import { listHooks, mentionsBeckon, readHookCommand } from "../../../settings-file/hook-command.ts";
import { listOwnHooks } from "../../../settings-file/hooks.ts";
import { errorCode, readSmallFile } from "../../../storage/files.ts";
import { resolvePaths } from "../../../storage/paths.ts";
import { type Env, homeOf } from "../../../system/folders.ts";
import { scopes } from "../../agent.ts";
import { findProgramStatus, isTrustedBinary } from "../../setup/called-program.ts";
import type { CalledProgram, SettingsFacts } from "./findings.ts";
import { settingsPath } from "./folder.ts";
import { isGuardHook } from "./registration.ts";

/** `cwd` is null if the current folder is gone: then there is no project. */
export function readSettingsFiles(
  env: Env,
  cwd: string | null,
  managed: readonly string[],
): readonly SettingsFacts[] {
  const home = homeOf(env);
  const files = [
    ...scopes
      .filter((scope) => cwd !== null || scope === "user")
      .map((scope) => ({ scope, path: settingsPath(scope, env, cwd ?? home) })),
    ...managed.map((path) => ({ scope: "managed" as const, path })),
  ];
  // In the home folder, the user's file is the project's too.
  const seen = new Set<string>();
  const unique = files.filter(({ path }) => !seen.has(path) && seen.add(path));
  return unique.flatMap(({ scope, path }) => readSettingsFile(scope, path) ?? []);
}

/** null if there is no such file. */
function readSettingsFile(scope: SettingsFacts["scope"], path: string): SettingsFacts | null {
  const empty = {
    scope,
    path,
    problem: null,
    own: [],
    customEvents: [],
    disablesAll: false,
    managedOnly: false,
  };
  let text: string;
  try {
    text = readSmallFile(path, limits.maxAgentSettingsBytes);
  } catch (error) {
    const code = errorCode(error);
    const isMissing = code === "ENOENT" || code === "ENOTDIR";
    return isMissing ? null : { ...empty, problem: `it cannot be read (${code})` };
  }
  if (text.trim() === "") return empty;
  try {
    const own = listOwnHooks(text).filter((hook) => !isGuardHook(hook));
    const settings = asRecord(JSON.parse(text));
    const custom = listHooks(settings).filter(mentionsBeckon);
    return {
      ...empty,
      own,
      customEvents: custom.map(({ event }) => event),
      disablesAll: settings.disableAllHooks === true,
      managedOnly: settings.allowManagedHooksOnly === true,
    };
  } catch (error) {
    return { ...empty, problem: readErrorMessage(error) };
  }
}

/** Each program that beckon's commands call. */
export function findCalledPrograms(
  files: readonly SettingsFacts[],
  env: Env,
  readVersion: (binary: string) => Promise<string | null>,
): Promise<readonly CalledProgram[]> {
  const calls = files.flatMap(({ scope, own }) =>
    own.flatMap(({ command }) => {
      const found = readHookCommand(command);
      return found === null ? [] : [{ scope, command, ...found }];
    }),
  );
  const programs = Map.groupBy(calls, ({ binary, home }) => JSON.stringify([binary, home]));
  return Promise.all(
    [...programs.values()].flatMap((callers) => {
      const [first] = callers;
      if (!first) return [];
      const { binary, home } = first;
      const { state } = resolvePaths(home === null ? env : { ...env, BECKON_HOME: home });
      const status = isAbsolute(binary) ? findProgramStatus(binary) : "ok";
      const isTrusted = callers.some(({ scope }) => scope === "user") || isTrustedBinary(binary, null);
      const mayRun = status === "ok" && isAbsolute(binary) && isTrusted;
      const reading = mayRun ? readVersion(binary) : Promise.resolve(null);
      const commands = new Set(callers.map(({ command }) => command));
      return [reading.then((version) => ({ commands, binary, state, status, version }))];
    }),
  );
}
