/** Where an event is sent. A project's settings can set variables: they must not send prompts to another machine. */

import { parseRecord } from "../core/json.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import type { Env } from "../system/folders.ts";
import { hasForeignListener, startListenerCheck } from "../system/sockets.ts";
import { readProcess, readSmall, type Surroundings } from "./meta.ts";
import { readOwnSmall, readTokenLine } from "./own-file.ts";

export interface Target {
  readonly url: URL;
  /** Reached without DNS, proxy or TLS. */
  readonly isLoopback: boolean;
  /** The line `Authorization: Bearer …`; null if there is none that may be sent there. */
  readonly token: string | null;
  /** Proves that a decision is beckon's own; null if no decision from there can be trusted. */
  readonly key: string | null;
}

/**
 * Null if beckon is not running, or another user has its port. A BECKON_URL that is not followed is added to `faults`. The token in the state folder goes
 * only to the app that wrote endpoint.json; another address gets the token that BECKON_TOKEN_FILE names, or none.
 * `findUserConfig` finds the config.json that alone may allow another machine.
 */
export async function chooseTarget(
  env: Env,
  paths: Paths,
  faults: string[],
  surroundings: Promise<Pick<Surroundings, "boot">>,
  findUserConfig: () => Promise<string | null> = findConfigInUserHome,
): Promise<Target | null> {
  const findingApp = findApp(paths, surroundings);
  if (!env.BECKON_URL) return findingApp;
  const url = URL.parse(env.BECKON_URL);
  if (url && isLoopback(url)) {
    const app = await findingApp;
    if (app?.url.origin === url.origin) return app;
    // The end of an SSH tunnel, for example: while the tunnel is down, any user of this machine can take its port.
    if (await hasForeignListener(url)) {
      faults.push("another user's program listens at BECKON_URL: nothing sent, kept in the spool");
      return null;
    }
    return { url, isLoopback: true, token: await readOtherToken(env, faults), key: null };
  }
  const config = await findUserConfig();
  const isAllowed = config !== null && parseRecord((await readSmall(config)) ?? "").allowRemoteUrl === true;
  if (url && /^https?:$/.test(url.protocol) && isAllowed) {
    return { url, isLoopback: false, token: await readOtherToken(env, faults), key: null };
  }
  const why = config ? `${config} does not set allowRemoteUrl` : "your home folder is not known";
  faults.push(`BECKON_URL ignored: not http://127.0.0.1, and ${why}`);
  return findingApp;
}

/**
 * The app's socket; null if there is none, or BECKON_URL names another place. Only this user can listen there, and nobody once the
 * app is gone. So nothing else has to be read, which takes a hook 0.8 ms less than an address with a port.
 */
export async function findSocket(
  env: Env,
  { hookSocket }: Pick<Paths, "hookSocket">,
): Promise<string | null> {
  const uid = process.getuid?.();
  if (env.BECKON_URL || uid === undefined) return null;
  const stat = await Bun.file(hookSocket).stat().catch(returnNull);
  return stat?.isSocket() && stat.uid === uid ? hookSocket : null;
}

const returnNull = () => null;

/** The running app, by its endpoint.json. A crash leaves the file behind, and later its port and pid can belong to others. */
async function findApp(
  paths: Paths,
  surroundings: Promise<Pick<Surroundings, "boot">>,
): Promise<Target | null> {
  const readingEndpoint = readOwnSmall(paths.endpoint);
  const isOwnListener = startListenerCheck();
  const readingToken = readTokenLine(paths.authHeader);
  const { url: address, pid, start, boot, key } = parseRecord((await readingEndpoint) ?? "");
  const url = typeof address === "string" ? URL.parse(address) : null;
  if (url === null || !isLoopback(url)) return null;
  if (typeof pid !== "number" || !Number.isInteger(pid) || pid < 1 || !isRunning(pid)) return null;
  if (typeof start === "string" && (await readProcess(pid))?.start !== start) return null;
  if (typeof boot === "string" && (await surroundings).boot !== boot) return null;
  if (!(await isOwnListener(url))) return null;
  return { url, isLoopback: true, token: await readingToken, key: asKey(key) };
}

/** A project's settings can set BECKON_TOKEN_FILE too: the token of this machine's app is not sent, under any name. */
async function readOtherToken({ BECKON_TOKEN_FILE: path }: Env, faults: string[]): Promise<string | null> {
  if (!path) return null;
  const { readTokenFile } = await import("./token-file.ts");
  const token = readTokenFile(path);
  if (token === null)
    faults.push("BECKON_TOKEN_FILE ignored: not a file of your own with a token for that address");
  return token;
}

const asKey = (key: unknown): string | null => (typeof key === "string" && key !== "" ? key : null);

export function isLoopback({ protocol, hostname }: URL): boolean {
  if (protocol !== "http:") return false;
  // The common case first: the first regular expression takes 0.1 ms.
  return hostname === "127.0.0.1" || /^(localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(hostname);
}

/** In its default place under the user's home folder: a project's settings can set HOME and every other variable. */
async function findConfigInUserHome(): Promise<string | null> {
  const { findUserHome } = await import("../system/user-home.ts");
  const home = await findUserHome();
  return home === null ? null : resolvePaths({ HOME: home }).config;
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
