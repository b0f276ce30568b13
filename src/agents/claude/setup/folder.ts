/** Where Claude Code keeps its files. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Env, homeOf } from "../../../system/folders.ts";
import type { Scope } from "../../agent.ts";

/** As the CLI finds it. */
export function claudeFolder(env: Env, platform: NodeJS.Platform = process.platform): string {
  const folder = env.CLAUDE_CONFIG_DIR;
  return folder ? resolve(folder) : join(homeOf(env, platform), ".claude");
}

export const isPresent = (env: Env): boolean => existsSync(claudeFolder(env));

export function settingsPath(scope: Scope, env: Env, cwd: string): string {
  switch (scope) {
    case "user":
      return join(claudeFolder(env), "settings.json");
    case "project":
      return join(cwd, ".claude", "settings.json");
    case "local":
      return join(cwd, ".claude", "settings.local.json");
  }
}

/** Where an administrator's settings are. */
export function managedSettingsPaths(
  env: Env,
  platform: NodeJS.Platform = process.platform,
): readonly string[] {
  const name = "managed-settings.json";
  if (platform === "darwin") return [`/Library/Application Support/ClaudeCode/${name}`];
  if (platform !== "win32") return [`/etc/claude-code/${name}`];
  const data = env.ProgramData || "C:\\ProgramData";
  const programs = env.ProgramFiles || "C:\\Program Files";
  return [`${data}\\ClaudeCode\\${name}`, `${programs}\\ClaudeCode\\${name}`];
}

export const installedPluginsPath = (env: Env): string =>
  join(claudeFolder(env), "plugins", "installed_plugins.json");
