/** Agents' settings files as they were before an install, dated. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { ensurePrivateFolder, ignoreErrors, writePrivateFile } from "../storage/files.ts";

const kept = 5;

export const sha256 = (bytes: Buffer | string): string => createHash("sha256").update(bytes).digest("hex");

/** Two projects' files have the same name: the path's own mark tells them apart. */
const endOf = (path: string): string => `${sha256(path).slice(0, 8)}-${basename(path)}`;

/** The backup's path. */
export function backUp(folder: string, path: string, bytes: Buffer, now = Date.now()): string {
  ensurePrivateFolder(folder);
  const date = new Date(now).toISOString().replace(/[:.]/g, "-");
  const backup = join(folder, `${date}-${endOf(path)}`);
  if (existsSync(backup)) return backUp(folder, path, bytes, now + 1);
  writePrivateFile(backup, bytes);
  return backup;
}

/** The newest stay, and the one that uninstall would give back. */
export function pruneBackups(folder: string, path: string, needed: string | null): void {
  ignoreErrors(() => {
    const own = readdirSync(folder).filter((name) => name.endsWith(`-${endOf(path)}`));
    for (const name of own.sort().slice(0, -kept)) {
      if (join(folder, name) !== needed) rmSync(join(folder, name), { force: true });
    }
  });
}

/** null: it is gone, or somebody changed it. */
export function readBackup(path: string, hash: string | null): Buffer | null {
  try {
    const bytes = readFileSync(path);
    return sha256(bytes) === hash ? bytes : null;
  } catch {
    return null;
  }
}
