/** Where Claude Code keeps its files, and whether they make it call beckon. The running app uses this: it loads no installer. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { asRecord, type JsonRecord, parseJson } from "../../../core/json.ts";
import { type Env, homeOf } from "../../../system/folders.ts";
import { type Scope, scopes } from "../../agent.ts";
import { createFileCheck, hasOwnHooks, readSettingsText } from "../../setup/file-check.ts";

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

/** Returns {} if the file is not there or cannot be parsed. */
export const readSettings = (path: string): JsonRecord => asRecord(parseJson(readSettingsText(path)));

const installedPluginsPath = (env: Env): string =>
  join(claudeFolder(env), "plugins", "installed_plugins.json");

/** The name that beckon's plugin is enabled under, such as `beckon@marketplace`. With `cwd` null only the user's settings count. */
export function findPlugin(env: Env, cwd: string | null): string | null {
  const isOurs = (name: string) => /^beckon(@|$)/.test(name);
  const enabled = new Map<string, unknown>();
  for (const scope of cwd === null ? (["user"] as const) : scopes) {
    const { enabledPlugins } = readSettings(settingsPath(scope, env, cwd ?? ""));
    for (const [name, value] of Object.entries(asRecord(enabledPlugins))) enabled.set(name, value);
  }
  const ours = [...enabled].find(([name, value]) => isOurs(name) && value !== false);
  if (ours) return ours[0];
  // Some versions of the CLI list an installed plugin here and enable it without an entry in the settings.
  const { plugins } = readSettings(installedPluginsPath(env));
  const installed = Object.keys(asRecord(plugins)).find(isOurs);
  return installed && enabled.get(installed) !== false ? installed : null;
}

/** Looks at the user's own settings and plugins only: there can be any number of projects. */
export function createRegistrationCheck(env: Env): () => boolean {
  const path = settingsPath("user", env, "");
  return createFileCheck(
    [path, installedPluginsPath(env)],
    () => hasOwnHooks(readSettings(path)) || findPlugin(env, null) !== null,
  );
}
