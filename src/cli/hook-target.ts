/** Where an event goes. A project's settings can set variables: prompts must not leave the machine by that door. */
import type { Paths } from "../storage/paths.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface Target {
  readonly url: URL;
  /** Reached without DNS, proxy or TLS. */
  readonly isLoopback: boolean;
}

/** null: nothing is running. What was refused, and why, is added to the faults. */
export async function chooseTarget(env: Env, places: Paths, faults: string[]): Promise<Target | null> {
  if (env.BECKON_URL) {
    const url = URL.parse(env.BECKON_URL);
    if (url && isLoopback(url)) return { url, isLoopback: true };
    if (url && /^https?:$/.test(url.protocol) && (await allowsRemote(env, places.config))) {
      return { url, isLoopback: false };
    }
    faults.push("BECKON_URL ignored: not http://127.0.0.1, and config.json does not say allowRemoteUrl");
  }
  const { url: address, pid } = await readObject(places.endpoint);
  const url = typeof address === "string" ? URL.parse(address) : null;
  if (url === null || !isLoopback(url)) return null;
  // The app was killed, and its port may be somebody else's by now.
  if (typeof pid === "number" && !isRunning(pid)) return null;
  return { url, isLoopback: true };
}

export function isLoopback({ protocol, hostname }: URL): boolean {
  if (protocol !== "http:") return false;
  // By far the most frequent; the others may take the 0.1 ms that a first regular expression takes.
  return hostname === "127.0.0.1" || /^(localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(hostname);
}

/** These are variables too: a config that they place inside the project came with it, and is not the person's own. */
const configVariables = ["BECKON_HOME", "XDG_CONFIG_HOME", "APPDATA"];

async function allowsRemote(env: Env, config: string): Promise<boolean> {
  if (configVariables.some((name) => env[name]) && (await liesInProject(env, config))) return false;
  return (await readObject(config)).allowRemoteUrl === true;
}

async function liesInProject(env: Env, config: string): Promise<boolean> {
  const { realpathSync } = await import("node:fs");
  try {
    const file = realpathSync(config);
    const folders = [".", env.CLAUDE_PROJECT_DIR || "."].map((folder) => realpathSync(folder));
    return folders.some((folder) =>
      file.startsWith(folder.replace(/[/\\]?$/, file.includes("\\") ? "\\" : "/")),
    );
  } catch {
    // Not there, or not to be looked at: then it allows nothing.
    return true;
  }
}

async function readObject(path: string): Promise<Record<string, unknown>> {
  try {
    const value: unknown = await Bun.file(path).json();
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
