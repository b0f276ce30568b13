/**
 * The user's home folder and the current folder. The forwarder imports this for every event, so node:path and node:os (0.4 ms
 * each) are loaded only when they are needed.
 */

export type Env = Readonly<Record<string, string | undefined>>;

/** The variables that are set, as programs are started with them. */
export const dropUnset = (env: Env): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

export function homeOf(env: Env, platform: NodeJS.Platform = process.platform): string {
  const { isAbsolute, resolve } = process.getBuiltinModule("node:path");
  const home = env[platform === "win32" ? "USERPROFILE" : "HOME"];
  return home && isAbsolute(home) ? resolve(home) : process.getBuiltinModule("node:os").homedir();
}

/** null if the folder was removed while this process runs in it. */
export function currentFolder(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}
