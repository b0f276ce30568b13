/** Whether the agent's settings have it call beckon. */
import { statSync } from "node:fs";
import { settingsPath } from "../agents/claude/setup/scope.ts";
import { enabledPlugin, installedPluginsPath } from "../agents/claude/setup/warnings.ts";
import { limits } from "../core/limits.ts";
import { listOwnHooks } from "../settings-file/hooks.ts";
import { readSmallFile } from "../storage/files.ts";
import type { Env } from "../system/home.ts";

/** Of the person's own settings and plugins: a project's may be anywhere. Read again when a file has changed. */
export function createConnection(env: Env): () => boolean {
  const path = settingsPath("user", env, "");
  const files = [path, installedPluginsPath(env)];
  let stamp: string | null = null;
  let isThere = false;
  return () => {
    const now = files.map(stampOf).join();
    if (now === stamp) return isThere;
    stamp = now;
    isThere = hasHooks(path) || enabledPlugin(env, null) !== null;
    return isThere;
  };
}

function stampOf(path: string): string {
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
