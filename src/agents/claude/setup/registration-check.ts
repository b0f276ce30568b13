/** Whether Claude Code calls beckon. The running app checks it, so it loads nothing of the installer. */
import { statSync } from "node:fs";
import { limits } from "../../../core/limits.ts";
import { isOwnCommand, listHooks } from "../../../settings-file/hook-command.ts";
import { readSmallFile } from "../../../storage/files.ts";
import type { Env } from "../../../system/folders.ts";
import { installedPluginsPath, settingsPath } from "./folder.ts";
import { findPlugin } from "./plugin.ts";

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
    const text = readSmallFile(path, limits.maxAgentSettingsBytes).replace(/^\uFEFF/, "");
    return listHooks(JSON.parse(text)).some(isOwnCommand);
  } catch {
    return false;
  }
}
