/** Where an event is sent. A project's settings can set variables: they must not send prompts to another machine. */

import { type Paths, resolvePaths } from "../storage/paths.ts";
import type { Env } from "../system/folders.ts";
import { readProcess, readSmall, type Surroundings } from "./meta.ts";

export interface Target {
  readonly url: URL;
  /** Reached without DNS, proxy or TLS. */
  readonly isLoopback: boolean;
  /** The line `Authorization: Bearer …`; null if there is none that could be sent. */
  readonly token: string | null;
  /** Proves that a decision is beckon's own; null if no decision from there can be trusted. */
  readonly key: string | null;
}

/**
 * Null if beckon is not running. A BECKON_URL that is not followed is added to `faults`.
 * `findUserConfig` finds the config.json that alone may allow another machine.
 */
export async function chooseTarget(
  env: Env,
  paths: Paths,
  faults: string[],
  surroundings: Promise<Pick<Surroundings, "boot">>,
  findUserConfig: () => Promise<string | null> = findConfigInUserHome,
): Promise<Target | null> {
  const readingToken = readToken(paths.authHeader);
  if (env.BECKON_URL) {
    const url = URL.parse(env.BECKON_URL);
    if (url && isLoopback(url)) {
      const { key } = await readObject(paths.endpoint);
      return { url, isLoopback: true, token: await readingToken, key: asKey(key) };
    }
    const config = await findUserConfig();
    if (
      url &&
      /^https?:$/.test(url.protocol) &&
      config &&
      (await readObject(config)).allowRemoteUrl === true
    ) {
      return { url, isLoopback: false, token: await readingToken, key: null };
    }
    const why = config ? `${config} does not set allowRemoteUrl` : "your home folder is not known";
    faults.push(`BECKON_URL ignored: not http://127.0.0.1, and ${why}`);
  }
  const { url: address, pid, start, boot, key } = await readObject(paths.endpoint);
  const url = typeof address === "string" ? URL.parse(address) : null;
  if (url === null || !isLoopback(url)) return null;
  // After a crash, another process can have the port by now, and the pid too.
  if (typeof pid !== "number" || !Number.isInteger(pid) || pid < 1 || !isRunning(pid)) return null;
  if (typeof start === "string" && (await readProcess(pid))?.start !== start) return null;
  if (typeof boot === "string" && (await surroundings).boot !== boot) return null;
  return { url, isLoopback: true, token: await readingToken, key: asKey(key) };
}

const asKey = (key: unknown): string | null => (typeof key === "string" && key !== "" ? key : null);

async function readToken(path: string): Promise<string | null> {
  const text = (await readSmall(path)) ?? "";
  const end = text.indexOf("\n");
  const line = (end < 0 ? text : text.slice(0, end)).trim();
  return line.startsWith("Authorization:") && !line.includes("\r") ? line : null;
}

export function isLoopback({ protocol, hostname }: URL): boolean {
  if (protocol !== "http:") return false;
  // The common case first: the first regular expression takes 0.1 ms.
  return hostname === "127.0.0.1" || /^(localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(hostname);
}

/** In its default place under the user's home folder: a project's settings can set HOME and every other variable. */
async function findConfigInUserHome(): Promise<string | null> {
  const { findUserHome } = await import("./user.ts");
  const home = findUserHome();
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
  // Windows reuses the pid of a dead process at once: it can be ours now.
  if (process.platform === "win32" && pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
