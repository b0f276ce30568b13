/** Writes files of beckon that other programs read or run. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { readOwnBytes, renameFile } from "../storage/files.ts";

/** Replaces the file atomically. A file with the same content is not touched: it may be in use. */
export function putFile(path: string, bytes: Buffer, mode: 0o600 | 0o700): void {
  if (hasContent(path, bytes)) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.new`;
  rmSync(temporary, { force: true });
  try {
    writeFileSync(temporary, bytes, { mode, flag: "wx" });
    // The umask may have removed some permissions.
    chmodSync(temporary, mode);
    renameFile(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function hasContent(path: string, bytes: Buffer): boolean {
  try {
    return readOwnBytes(path, bytes.length).equals(bytes);
  } catch {
    return false;
  }
}
