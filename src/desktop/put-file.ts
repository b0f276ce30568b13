/** A file of ours that other programs read or run. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Written beside it and renamed: nobody ever sees half of it. One that is the same already stays: it may be in use. */
export function putFile(path: string, bytes: Buffer, mode: 0o600 | 0o700): void {
  if (isSame(path, bytes)) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}.new`;
  rmSync(fresh, { force: true });
  try {
    writeFileSync(fresh, bytes, { mode, flag: "wx" });
    // The umask may have taken some of it away.
    chmodSync(fresh, mode);
    renameSync(fresh, path);
  } finally {
    rmSync(fresh, { force: true });
  }
}

function isSame(path: string, bytes: Buffer): boolean {
  try {
    return readFileSync(path).equals(bytes);
  } catch {
    return false;
  }
}
