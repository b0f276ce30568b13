/** beckon's plugin for Claude Code, and settings that keep registered hooks from running. */
import { asRecord, type JsonRecord } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import { readSmallFile } from "../../../storage/files.ts";
import type { Env } from "../../../system/folders.ts";
import { type Scope, scopes } from "../../agent.ts";
import { installedPluginsPath, settingsPath } from "./folder.ts";

/** The scopes whose settings can switch off the hooks of a scope: its own, and those closer to the project. */
const overridingScopes: Readonly<Record<Scope, readonly Scope[]>> = {
  user: ["user", "project", "local"],
  project: ["project", "local"],
  local: ["local"],
};

export function findWarnings(scope: Scope, env: Env, cwd: string, managed: readonly string[]): string[] {
  const pathOf = (one: Scope) => settingsPath(one, env, cwd);
  const switchedOff = overridingScopes[scope]
    .map(pathOf)
    .filter((path) => readSettings(path)?.disableAllHooks === true)
    .map((path) => {
      const where = path === pathOf("user") || scope !== "user" ? "" : " in this project";
      return `No hook runs${where}: ${path} has "disableAllHooks": true. Remove that line.`;
    });
  const byAdministrator = managed.flatMap((path) => {
    const settings = readSettings(path);
    if (settings?.disableAllHooks === true)
      return [`No hook runs: your administrator has switched hooks off, in ${path}.`];
    if (settings?.allowManagedHooksOnly === true)
      return [`Your hooks do not run: your administrator allows only their own, in ${path}. Ask them.`];
    return [];
  });
  const plugin = findPlugin(env, cwd);
  const twice =
    plugin === null
      ? []
      : [
          `The plugin ${plugin} has the same hooks: each event is sent twice and counted once. Keep one of them: /plugin in Claude Code switches the plugin off, and beckon --uninstall removes the hooks.`,
        ];
  return [...new Set([...switchedOff, ...byAdministrator, ...twice])];
}

/** The name that beckon's plugin is enabled under, such as `beckon@marketplace`. With `cwd` null only the user's settings count. */
export function findPlugin(env: Env, cwd: string | null): string | null {
  const isOurs = (name: string) => /^beckon(@|$)/.test(name);
  const enabled = new Map<string, unknown>();
  for (const scope of cwd === null ? (["user"] as const) : scopes) {
    const { enabledPlugins } = readSettings(settingsPath(scope, env, cwd ?? "")) ?? {};
    for (const [name, value] of Object.entries(asRecord(enabledPlugins))) enabled.set(name, value);
  }
  const ours = [...enabled].find(([name, value]) => isOurs(name) && value !== false);
  if (ours) return ours[0];
  // Some versions of the CLI list an installed plugin here and enable it without an entry in the settings.
  const { plugins } = readSettings(installedPluginsPath(env)) ?? {};
  const installed = Object.keys(asRecord(plugins)).find(isOurs);
  return installed && enabled.get(installed) !== false ? installed : null;
}

/** The installer did not install the plugin, so the uninstaller leaves it. */
export function findLeftovers(env: Env, cwd: string | null): string[] {
  const plugin = findPlugin(env, cwd);
  if (plugin === null) return [];
  // A cloned project's settings can name any plugin: an unusual name does not become part of a command.
  const removal = /^beckon(@[\w.-]+)?$/.test(plugin)
    ? `claude plugin uninstall ${plugin}`
    : "/plugin in Claude Code";
  return [`The plugin ${plugin} stays in Claude Code. To remove it too: ${removal}`];
}

/** null if the file is not there or cannot be parsed. */
function readSettings(path: string): JsonRecord | null {
  try {
    return asRecord(JSON.parse(readSmallFile(path, limits.maxAgentSettingsBytes)));
  } catch {
    return null;
  }
}
