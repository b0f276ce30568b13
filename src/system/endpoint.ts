/**
 * How other processes of this user find the running app: endpoint.json has its address, auth-header the token. Checked by
 * hand and not with a schema, because a hook that starts the app loads this file.
 */
import { chmodSync, lstatSync, rmSync } from "node:fs";
import { asRecord, readString } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { ensurePrivateFolder, ignoreErrors, readOwnFile, writePrivateFile } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { isAlive, readBootId, readStat } from "./processes.ts";

export interface Endpoint {
  readonly url: string;
  readonly pid: number;
  /** The app's version. Absent if it is older than 0.2.0. */
  readonly version?: string;
}

/**
 * The `key` signs decisions. Start time and boot identify the process: a crash leaves the file behind, and later the pid can
 * belong to another program.
 */
export function writeEndpoint(
  paths: Pick<Paths, "endpoint">,
  { url, pid, key, version }: Endpoint & { readonly key: string },
): void {
  const identity = pid === process.pid ? { start: readStat(pid)?.start ?? null, boot: readBootId() } : {};
  writePrivateFile(paths.endpoint, `${JSON.stringify({ url, pid, ...identity, key, version })}\n`);
}

/** null if no app is running. */
export function readEndpoint(paths: Pick<Paths, "endpoint">): Endpoint | null {
  try {
    const { url, pid, start, boot, version } = parseEndpoint(paths);
    if (typeof url !== "string" || typeof pid !== "number" || !Number.isInteger(pid) || pid < 1) return null;
    if (typeof boot === "string" && boot !== readBootId()) return null;
    if (!isAlive(pid, readString(start))) return null;
    return { url, pid, ...(typeof version === "string" ? { version } : {}) };
  } catch {
    return null;
  }
}

/** Leaves the file of another process alone: the next app may have written its own already. */
export function removeEndpoint(paths: Pick<Paths, "endpoint">, pid: number = process.pid): void {
  ignoreErrors(() => {
    if (parseEndpoint(paths).pid === pid) rmSync(paths.endpoint, { force: true });
  });
}

function parseEndpoint({ endpoint }: Pick<Paths, "endpoint">): Readonly<Record<string, unknown>> {
  return asRecord(JSON.parse(readOwnFile(endpoint, limits.maxSmallFileBytes)));
}

/** The token of this state folder. The file is a whole header line, for `curl -H @auth-header`. */
export function loadOrCreateToken(paths: Pick<Paths, "state" | "authHeader">): string {
  ensurePrivateFolder(paths.state);
  const stats = lstatSync(paths.authHeader, { throwIfNoEntry: false });
  if (stats?.isDirectory()) {
    throw new Error(
      `${paths.authHeader} is a folder, but beckon keeps its token in that file. Move it away.`,
    );
  }
  const known = readToken(paths.authHeader);
  if (known !== null) {
    if (stats && (stats.mode & 0o077) !== 0) chmodSync(paths.authHeader, 0o600);
    return known;
  }
  const token = createSecret();
  writePrivateFile(paths.authHeader, `Authorization: Bearer ${token}\n`);
  return token;
}

/** null if there is no valid token. */
function readToken(path: string): string | null {
  try {
    const text = readOwnFile(path, limits.maxSmallFileBytes);
    const token = /^Authorization: Bearer ([\w-]+)\r?\n?$/.exec(text)?.[1] ?? "";
    return token.length >= limits.minTokenLength ? token : null;
  } catch {
    return null;
  }
}

export function createSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}
