/** The lock that allows one beckon per state folder. */
import { Database, constants as sqlite } from "bun:sqlite";
import { chmodSync, closeSync, constants, ftruncateSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { checkOwnFile, errorCode, openOwnFile, UnsafeFileError, withFile } from "./files.ts";
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
    // It is not renamed: another beckon may be using it.
    if (cause instanceof UnsafeFileError) throw cause;
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
  const database = openDatabase(path);
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

/** SQLite opens the file by its path again, and NOFOLLOW refuses a link anywhere in it: the user's folder may be one. */
function openDatabase(path: string): Database {
  const { SQLITE_OPEN_READWRITE, SQLITE_OPEN_CREATE, SQLITE_OPEN_NOFOLLOW } = sqlite;
  if (process.platform === "win32") return new Database(path);
  const realPath = join(realpathSync(dirname(path)), basename(path));
  return new Database(realPath, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW);
}

/** Another program wrote into the file. It is emptied and not replaced: a second beckon could lock a new file. */
function lockEmptied(path: string): Lock | null {
  withFile(openOwnFile(path, constants.O_RDWR), (fd) => ftruncateSync(fd));
  return lockDatabase(path);
}

/** An existing file is not opened: closing any descriptor of a file releases the locks that this process has on it. */
function createLockFile(path: string): void {
  // SQLite also looks at the last two.
  for (const suffix of ["", "-journal", "-wal"]) checkOwnFile(path + suffix);
  try {
    closeSync(openOwnFile(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    chmodSync(path, 0o600);
  }
}
