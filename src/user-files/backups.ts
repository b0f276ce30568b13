/** Dated copies of agents' settings files as they were before beckon changed them. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { limits } from "../core/limits.ts";
import { formatFileTime } from "../core/text/paths.ts";
import { ensureOwnFolder, ignoreErrors, readOwnBytes, writePrivateFile } from "../storage/files.ts";

const maxBackups = 5;

export const sha256 = (bytes: Buffer | string): string => createHash("sha256").update(bytes).digest("hex");

/** Files of two projects have the same name, so the backup's name has a hash of the path. */
const suffixFor = (path: string): string => `${sha256(path).slice(0, 8)}-${basename(path)}`;

/** Returns the path of the backup. */
export function createBackup(folder: string, path: string, bytes: Buffer, now = Date.now()): string {
  ensureOwnFolder(folder);
  const backup = join(folder, `${formatFileTime(new Date(now))}-${suffixFor(path)}`);
  if (existsSync(backup)) return createBackup(folder, path, bytes, now + 1);
  writePrivateFile(backup, bytes);
  return backup;
}

/** Keeps the newest, and the one that an uninstall would restore. */
export function pruneBackups(folder: string, path: string, needed: string | null): void {
  ignoreErrors(() => {
    const names = readdirSync(folder).filter((name) => name.endsWith(`-${suffixFor(path)}`));
    for (const name of names.sort().slice(0, -maxBackups)) {
      if (join(folder, name) !== needed) rmSync(join(folder, name), { force: true });
    }
  });
}

/** Null if it is gone or does not have this hash. */
export function readBackup(path: string, hash: string | null): Buffer | null {
  try {
    const bytes = readOwnBytes(path, limits.maxAgentSettingsBytes);
    return sha256(bytes) === hash ? bytes : null;
  } catch {
    return null;
  }
}
