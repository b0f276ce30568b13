/** What in Claude Code's settings keeps registered hooks from running, or has them run twice. */
import { join } from "node:path";
import { asRecord, type JsonRecord } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import { readSmallFile } from "../../../storage/files.ts";
import type { Env } from "../../../system/home.ts";
import { claudeFolder, type Scope, scopes, settingsPath } from "./scope.ts";

export interface WarnOptions {
  readonly scope: Scope;
  readonly env: Env;
  readonly cwd: string;
  readonly managed?: readonly string[];
}

/** Where an administrator's settings lie. */
export function managedPlaces(env: Env, platform: NodeJS.Platform = process.platform): readonly string[] {
  const name = "managed-settings.json";
  if (platform === "darwin") return [`/Library/Application Support/ClaudeCode/${name}`];
  if (platform !== "win32") return [`/etc/claude-code/${name}`];
  const data = env.ProgramData || "C:\\ProgramData";
  const programs = env.ProgramFiles || "C:\\Program Files";
  return [`${data}\\ClaudeCode\\${name}`, `${programs}\\ClaudeCode\\${name}`];
}

/** The nearest wins: a project's settings can switch off what the person's own settings register. */
const overridingScopes: Readonly<Record<Scope, readonly Scope[]>> = {
  user: ["user", "project", "local"],
  project: ["project", "local"],
  local: ["local"],
};

export function warningsFor({ scope, env, cwd, managed = managedPlaces(env) }: WarnOptions): string[] {
  const pathOf = (one: Scope) => settingsPath(one, env, cwd);
  const switchedOff = overridingScopes[scope]
    .map(pathOf)
    .filter((path) => read(path)?.disableAllHooks === true)
    .map((path) => {
      const where = path === pathOf("user") || scope !== "user" ? "" : " in this project";
      return `No hook runs${where}: ${path} has "disableAllHooks": true. Take that line out.`;
    });
  const byManagers = managed.flatMap((path) => {
    const settings = read(path);
    if (settings?.disableAllHooks === true)
      return [`No hook runs: your administrator has switched hooks off, in ${path}.`];
    if (settings?.allowManagedHooksOnly === true)
      return [`No hook of yours runs: your administrator allows only their own, in ${path}. Ask them.`];
    return [];
  });
  const plugin = enabledPlugin(env, cwd);
  const twice = plugin
    ? [
        `The plugin ${plugin} brings the same hooks: each event comes twice, and counts once. One of both is enough: /plugin in Claude Code switches it off, or: beckon --uninstall`,
      ]
    : [];
  return [...new Set([...switchedOff, ...byManagers, ...twice])];
}

export const installedPluginsPath = (env: Env): string =>
  join(claudeFolder(env), "plugins", "installed_plugins.json");

/** By the name it is enabled under, as `beckon@marketplace`. Without a folder: by the person's own settings. */
export function enabledPlugin(env: Env, cwd: string | null): string | null {
  const isOurs = (name: string) => /^beckon(@|$)/.test(name);
  const enabled = new Map<string, unknown>();
  for (const scope of cwd === null ? (["user"] as const) : scopes) {
    const { enabledPlugins } = read(settingsPath(scope, env, cwd ?? "")) ?? {};
    for (const [name, value] of Object.entries(asRecord(enabledPlugins))) enabled.set(name, value);
  }
  const found = [...enabled].find(([name, value]) => isOurs(name) && value !== false);
  if (found) return found[0];
  // Some versions of the CLI list what is installed here, and enable it without a word in the settings.
  const { plugins } = read(installedPluginsPath(env)) ?? {};
  const installed = Object.keys(asRecord(plugins)).find(isOurs);
  return installed && enabled.get(installed) !== false ? installed : null;
}

/** null: it is not there, or says nothing that can be understood. */
function read(path: string): JsonRecord | null {
  try {
    return asRecord(JSON.parse(readSmallFile(path, limits.maxAgentSettingsBytes)));
  } catch {
    return null;
  }
}
