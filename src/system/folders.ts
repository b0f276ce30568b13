/** The user's home folder and the current folder. */
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";

export type Env = Readonly<Record<string, string | undefined>>;

export function homeOf(env: Env, platform: NodeJS.Platform = process.platform): string {
  const home = env[platform === "win32" ? "USERPROFILE" : "HOME"];
  return home && isAbsolute(home) ? resolve(home) : homedir();
}

/** null if the folder was removed while this process runs in it. */
export function currentFolder(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}
