/** Where an event goes. A project's settings can set variables: prompts must not leave the machine by that door. */
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { readSmall, readStat, type Surroundings } from "./meta.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface Target {
  readonly url: URL;
  /** Reached without DNS, proxy or TLS. */
  readonly isLoopback: boolean;
  /** What beckon proves its decisions with; null: none that comes from there can be believed. */
  readonly key: string | null;
}

/**
 * null: nothing is running. What was refused, and why, is added to the faults.
 * `ownConfig` finds the config.json that alone may allow another machine.
 */
export async function chooseTarget(
  env: Env,
  places: Paths,
  faults: string[],
  seeing: Promise<Pick<Surroundings, "boot">>,
  ownConfig: () => Promise<string | null> = configOfPerson,
): Promise<Target | null> {
  if (env.BECKON_URL) {
    const url = URL.parse(env.BECKON_URL);
    if (url && isLoopback(url)) {
      const { key } = await readObject(places.endpoint);
      return { url, isLoopback: true, key: keyIn(key) };
    }
    const config = await ownConfig();
    if (
      url &&
      /^https?:$/.test(url.protocol) &&
      config &&
      (await readObject(config)).allowRemoteUrl === true
    ) {
      return { url, isLoopback: false, key: null };
    }
    const why = config ? `${config} does not say allowRemoteUrl` : "your home folder is not known";
    faults.push(`BECKON_URL ignored: not http://127.0.0.1, and ${why}`);
  }
  const { url: address, pid, start, boot, key } = await readObject(places.endpoint);
  const url = typeof address === "string" ? URL.parse(address) : null;
  if (url === null || !isLoopback(url)) return null;
  // The app was killed, and its port may be somebody else's by now; so may its pid.
  if (typeof pid !== "number" || !Number.isInteger(pid) || pid < 1 || !isRunning(pid)) return null;
  if (typeof start === "string" && (await readStat(pid))?.start !== start) return null;
  if (typeof boot === "string" && (await seeing).boot !== boot) return null;
  return { url, isLoopback: true, key: keyIn(key) };
}

const keyIn = (key: unknown): string | null => (typeof key === "string" && key !== "" ? key : null);

export function isLoopback({ protocol, hostname }: URL): boolean {
  if (protocol !== "http:") return false;
  // By far the most frequent; the others may take the 0.1 ms that a first regular expression takes.
  return hostname === "127.0.0.1" || /^(localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(hostname);
}

/** In its default place under the person's home folder: a project's settings can set HOME and every other variable. */
async function configOfPerson(): Promise<string | null> {
  const { homeOfPerson } = await import("./user.ts");
  const home = homeOfPerson();
  return home === null ? null : resolvePaths({ HOME: home }).config;
}

async function readObject(path: string): Promise<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse((await readSmall(path)) ?? "null");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function isRunning(pid: number): boolean {
  // Windows gives a dead process's number away at once, and it can be ours now.
  if (process.platform === "win32" && pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
