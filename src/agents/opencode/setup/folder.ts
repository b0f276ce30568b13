/** Where opencode keeps its files, and whether they make it call beckon. The running app uses this: it loads no installer. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Env, homeOf } from "../../../system/folders.ts";
import { createTextCheck } from "../../setup/file-check.ts";

/** As opencode finds it, on every system. */
function opencodeFolder(env: Env): string {
  if (env.OPENCODE_CONFIG_DIR) return resolve(env.OPENCODE_CONFIG_DIR);
  return join(env.XDG_CONFIG_HOME || join(homeOf(env), ".config"), "opencode");
}

export const isPresent = (env: Env): boolean => existsSync(opencodeFolder(env));

/** opencode loads every file in this folder. A project's plugin would run for everybody in it: only the user's own is written. */
export const pluginPath = (env: Env): string => join(opencodeFolder(env), "plugins", "beckon.js");

/** The start of beckon's plugin. */
export const ownMark = "// beckon's plugin for opencode.";

export const { createRegistrationCheck } = createTextCheck(pluginPath, (text) => text.includes(ownMark));

/**
 * Before opencode runs any plugin, it waits until @opencode-ai/plugin is in its folder, which it installs from the npm registry.
 * Measured with 1.18.33, offline: more than 80 s of blank screen with a plugin, less than 40 s without.
 */
export const hasPluginSupport = (env: Env): boolean =>
  existsSync(join(opencodeFolder(env), "node_modules", "@opencode-ai", "plugin", "package.json"));
