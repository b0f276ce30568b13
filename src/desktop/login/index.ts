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
    const [{ createLinuxLoginItem }, { createSystemdLoginItem, hasUserManager }, { exec }] =
      await Promise.all([import("./linux.ts"), import("./systemd.ts"), import("../../system/exec.ts")]);
    const withHome = { ...env, HOME: env.HOME || homedir() };
    const entry = createLinuxLoginItem(withHome, folder);
    const service = createSystemdLoginItem({ env: withHome, exec });
    if (env.DISPLAY || env.WAYLAND_DISPLAY) return joinLoginItems([entry, service]);
    const joined = joinLoginItems([service, entry]);
    return hasUserManager(env) ? joined : withoutStarter(joined, service);
  },
  async darwin({ env }) {
    const [{ createMacLoginItem }, { exec }] = await Promise.all([
      import("./macos.ts"),
      import("../../system/exec.ts"),
    ]);
    return createMacLoginItem({ home: env.HOME || homedir(), uid: process.getuid?.() ?? 0, exec });
  },
  async win32() {
    const [
      { createWindowsLoginItem },
      { readRegistryValue: read, writeRegistry, removeRegistryValue: remove },
    ] = await Promise.all([import("./windows.ts"), import("../windows/registry.ts")]);
    const write = (key: string, name: string, text: string) => writeRegistry([{ key, name, text }]);
    return createWindowsLoginItem({ read, write, remove });
  },
};

/** The first one is used. What an earlier install may have left of the other is seen and removed too. */
function joinLoginItems([used, other]: readonly [LoginItem, LoginItem]): LoginItem {
  return {
    enable: used.enable,
    async disable() {
      const done = [await used.disable(), await other.disable()].filter((text) => text !== null);
      return done.length === 0 ? null : done.join(". ");
    },
    async state() {
      const [first, second] = [await used.state(), await other.state()];
      return first.binary === null && second.on ? second : first;
    },
  };
}

const obstacle =
  "there is no desktop here, and systemd runs no services for you, so nothing would start beckon at login. To start it when you " +
  "log in to a shell, add this line to your shell's profile: beckon start >/dev/null";

/** A desktop entry that is left here starts nothing. systemd may yet start a service: its user manager runs from the next login on. */
function withoutStarter(all: LoginItem, service: LoginItem): LoginItem {
  return {
    obstacle,
    async enable() {
      throw new Error(obstacle);
    },
    disable: all.disable,
    async state() {
      const ofService = await service.state();
      if (ofService.on) return ofService;
      return { on: false, turnedOff: false, binary: (await all.state()).binary, problem: obstacle };
    },
  };
}

/** null if beckon cannot start at login on this system. */
export async function openLoginItem(
  options: LoginOptions,
  platform: NodeJS.Platform = process.platform,
): Promise<LoginItem | null> {
  return (await systems[platform]?.(options)) ?? null;
}
