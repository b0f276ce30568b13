/** Starts beckon when the user logs in: one file for each system. */

import { homedir } from "node:os";
import type { Env } from "../../system/folders.ts";
import type { LoginItem } from "./login-item.ts";

export interface LoginOptions {
  readonly env: Env;
  /** A private folder that stays: the login item's icon is written there. */
  readonly folder: string;
}

const systems: Readonly<Partial<Record<NodeJS.Platform, (options: LoginOptions) => Promise<LoginItem>>>> = {
  async linux({ env, folder }) {
    const { createLinuxLoginItem } = await import("./linux.ts");
    return createLinuxLoginItem({ ...env, HOME: env.HOME || homedir() }, folder);
  },
  async darwin({ env }) {
    const [{ createMacLoginItem }, { exec }] = await Promise.all([
      import("./macos.ts"),
      import("../../system/exec.ts"),
    ]);
    return createMacLoginItem({ home: env.HOME || homedir(), uid: process.getuid?.() ?? 0, exec });
  },
  async win32({ env }) {
    const [
      { createWindowsLoginItem },
      { readRegistryValue: read, writeRegistry, removeRegistryValue: remove },
    ] = await Promise.all([import("./windows.ts"), import("../windows/registry.ts")]);
    const write = (key: string, name: string, text: string) => writeRegistry([{ key, name, text }]);
    return createWindowsLoginItem({ read, write, remove }, env.SystemRoot || "C:\\Windows");
  },
};

/** null if beckon cannot start at login on this system. */
export async function openLoginItem(
  options: LoginOptions,
  platform: NodeJS.Platform = process.platform,
): Promise<LoginItem | null> {
  return (await systems[platform]?.(options)) ?? null;
}
