/** Starting with the person's login, on this system. */
import { homedir } from "node:os";
import type { LoginItem } from "./login.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface LoginOptions {
  readonly env: Env;
  /** Ours alone, and there to stay: an icon is put there. */
  readonly folder: string;
}

const systems: Readonly<Partial<Record<NodeJS.Platform, (options: LoginOptions) => Promise<LoginItem>>>> = {
  async linux({ env, folder }) {
    return (await import("./xdg.ts")).xdgLogin({ ...env, HOME: env.HOME || homedir() }, folder);
  },
  async darwin({ env }) {
    const [{ launchAgent }, { exec }] = await Promise.all([
      import("./launch-agent.ts"),
      import("../../system/exec.ts"),
    ]);
    return launchAgent({ home: env.HOME || homedir(), uid: process.getuid?.() ?? 0, exec });
  },
  async win32({ env }) {
    const [{ runKeyLogin }, { readRegistryValue: read, writeRegistry, removeRegistryValue: remove }] =
      await Promise.all([import("./run-key.ts"), import("../windows/registry.ts")]);
    const write = (key: string, name: string, text: string) => writeRegistry([{ key, name, text }]);
    return runKeyLogin({ read, write, remove }, env.SystemRoot || "C:\\Windows");
  },
};

/** null: nobody knows how to on this system. */
export async function openLogin(
  options: LoginOptions,
  platform: NodeJS.Platform = process.platform,
): Promise<LoginItem | null> {
  return (await systems[platform]?.(options)) ?? null;
}
