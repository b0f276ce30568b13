/** One beckon per state folder. */
import { Database } from "bun:sqlite";
import { chmodSync, closeSync, openSync, truncateSync } from "node:fs";
import { errorCode } from "./files.ts";
import type { Paths } from "./paths.ts";

export interface Lock {
  release(): void;
}

/** A Database that is collected takes its lock with it. */
const held = new Set<Database>();

/** null: another process has it. SQLite's lock is the system's own: kill -9 frees it. */
export function acquireLock(paths: Pick<Paths, "lock">): Lock | null {
  try {
    return take(paths.lock) ?? takeFromScratch(paths.lock);
  } catch (cause) {
    if (errorCode(cause) === "SQLITE_BUSY") return null;
    throw new Error(
      `beckon cannot lock ${paths.lock} (${errorCode(cause)}). Is the folder writable, and the disk not full?`,
      {
        cause,
      },
    );
  }
}

function take(path: string): Lock | null {
  createPrivate(path);
  const database = new Database(path);
  try {
    // Its journal would be a second file beside it, which a full disk does not take and kill -9 leaves behind.
    database.run("PRAGMA journal_mode=MEMORY");
    database.run("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (errorCode(error) === "SQLITE_NOTADB") return null;
    throw error;
  }
  held.add(database);
  return {
    release() {
      if (held.delete(database)) database.close();
    },
  };
}

/** Something else wrote into the file. Emptied in place: a new file would let a second beckon in beside the first. */
function takeFromScratch(path: string): Lock | null {
  truncateSync(path);
  return take(path);
}

/** Never opened where it exists: closing any descriptor of a file drops the locks this process has on it. */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    chmodSync(path, 0o600);
  }
}
