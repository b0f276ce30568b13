/** beckon's hooks in Claude Code's settings: what install writes, what is beckon's own, and whether it is there. */
import { existsSync, statSync } from "node:fs";
import { limits } from "../../../core/limits.ts";
import {
  createExecCommand,
  createShellCommand,
  envProgram,
  readHookCommand,
} from "../../../settings-file/hook-command.ts";
import {
  addHooks,
  isEmptySettings,
  listOwnHooks,
  removeHooks,
  type WantedHook,
} from "../../../settings-file/hooks.ts";
import { readSmallFile } from "../../../storage/files.ts";
import type { Env } from "../../../system/folders.ts";
import type { OwnEntries, Registration, RegistrationOptions } from "../../agent.ts";
import { hooksFor } from "../hooks.ts";
import { installedPluginsPath, settingsPath } from "./folder.ts";
import { findPlugin } from "./plugin.ts";

export function createRegistration(options: RegistrationOptions): Registration {
  const hooks = createHooks(options, existsSync(envProgram));
  return { count: hooks.length, noun: "hook", add: (text) => addHooks(text, hooks).text };
}

export function createHooks(options: RegistrationOptions, hasEnv: boolean): WantedHook[] {
  const { version, binary, home, platform } = options;
  const parts = { binary, agent: "claude", home };
  const shell = createShellCommand(parts, platform);
  const exec = hasEnv || platform === "win32" ? createExecCommand(parts, platform) : shell;
  return hooksFor(version).map(({ canExec, ...entry }) => ({ ...entry, ...(canExec ? exec : shell) }));
}

export const entries: OwnEntries = {
  findHomes: (text) => listOwnHooks(text).map(({ command }) => readHookCommand(command)?.home ?? null),
  remove: (text) => removeHooks(text).text,
  isEmpty: isEmptySettings,
};

/** Looks at the user's own settings and plugins only: there can be any number of projects. Reads a file again if it changed. */
export function createRegistrationCheck(env: Env): () => boolean {
  const path = settingsPath("user", env, "");
  const files = [path, installedPluginsPath(env)];
  let lastState: string | null = null;
  let isRegistered = false;
  return () => {
    const state = files.map(fileState).join();
    if (state === lastState) return isRegistered;
    lastState = state;
    isRegistered = hasHooks(path) || findPlugin(env, null) !== null;
    return isRegistered;
  };
}

function fileState(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return "";
  }
}

function hasHooks(path: string): boolean {
  try {
    return listOwnHooks(readSmallFile(path, limits.maxAgentSettingsBytes)).length > 0;
  } catch {
    return false;
  }
}
