/** Whether Claude Code calls beckon. The running app checks it, so it loads nothing of the installer. */
import { isOwnCommand, listHooks } from "../../../settings-file/hook-command.ts";
import type { Env } from "../../../system/folders.ts";
import { createFileCheck, readSettingsText } from "../../setup/file-check.ts";
import { installedPluginsPath, settingsPath } from "./folder.ts";
import { findPlugin } from "./plugin.ts";

/** Looks at the user's own settings and plugins only: there can be any number of projects. */
export function createRegistrationCheck(env: Env): () => boolean {
  const path = settingsPath("user", env, "");
  return createFileCheck(
    [path, installedPluginsPath(env)],
    () => hasHooks(path) || findPlugin(env, null) !== null,
  );
}

function hasHooks(path: string): boolean {
  try {
    return listHooks(JSON.parse(readSettingsText(path))).some(isOwnCommand);
  } catch {
    return false;
  }
}
