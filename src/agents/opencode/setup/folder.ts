/** Where opencode keeps its files, and whether they make it call beckon. The running app uses this: it loads no installer. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Env, homeOf } from "../../../system/folders.ts";
import { createTextCheck } from "../../setup/file-check.ts";
import type { OpencodeVariant } from "../variant.ts";

/** The start of beckon's plugin. */
export const markPlugin = ({ name }: OpencodeVariant): string => `// beckon's plugin for ${name}.`;

export function createFolder(variant: OpencodeVariant) {
  const { id, folderVariable, pluginPackage } = variant;
  /** As opencode finds it, on every system. */
  function find(env: Env): string {
    const { [folderVariable]: chosen } = env;
    return chosen ? resolve(chosen) : join(env.XDG_CONFIG_HOME || join(homeOf(env), ".config"), id);
  }
  /** opencode loads every file in this folder. A project's plugin would run for everybody in it: only the user's own is written. */
  const pluginPath = (env: Env): string => join(find(env), "plugins", "beckon.js");
  return {
    pluginPath,
    isPresent: (env: Env): boolean => existsSync(find(env)),
    ...createTextCheck(pluginPath, (text) => text.includes(markPlugin(variant))),
    /**
     * Before opencode runs any plugin, it waits until this package is in its folder, which it installs from the npm registry.
     * Measured with 1.18.33, offline: more than 80 s of blank screen with a plugin, less than 40 s without.
     */
    hasPluginSupport: (env: Env): boolean =>
      existsSync(join(find(env), "node_modules", pluginPackage, "package.json")),
  };
}
