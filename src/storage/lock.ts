/** The lock that allows one beckon per state folder. */
import { Database } from "bun:sqlite";
import { chmodSync, closeSync, openSync, truncateSync } from "node:fs";
import { errorCode } from "./files.ts";
import type { Paths } from "./paths.ts";

export interface Lock {
  release(): void;
}

/** Kept here because garbage collection of a Database releases its lock. */
const lockedDatabases = new Set<Database>();

/** null if another process has the lock. SQLite uses a lock of the system, which kill -9 releases. */
export function acquireLock(paths: Pick<Paths, "lock">): Lock | null {
  try {
    return lockDatabase(paths.lock) ?? lockEmptied(paths.lock);
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

/** null if the file is not a database. */
function lockDatabase(path: string): Lock | null {
  createLockFile(path);
  const database = new Database(path);
  try {
    // A journal file could not be created on a full disk, and kill -9 would leave it behind.
    database.run("PRAGMA journal_mode=MEMORY");
    database.run("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (errorCode(error) === "SQLITE_NOTADB") return null;
    throw error;
  }
  lockedDatabases.add(database);
  return {
    release() {
      if (lockedDatabases.delete(database)) database.close();
    },
  };
}

/** Another program wrote into the file. It is emptied and not replaced: a second beckon could lock a new file. */
function lockEmptied(path: string): Lock | null {
  truncateSync(path);
  return lockDatabase(path);
}

/** An existing file is not opened: closing any descriptor of a file releases the locks that this process has on it. */
function createLockFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    chmodSync(path, 0o600);
  }
}
