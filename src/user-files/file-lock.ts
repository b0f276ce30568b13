/** One beckon at a time changes a file. The lock is beside the file, so it counts for every state folder. */
import { closeSync, constants, fstatSync, ftruncateSync, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode, ignoreErrors, openOwnFile } from "../storage/files.ts";
import { acquireLock, type Lock } from "../storage/lock.ts";

const retryMs = 25;
const defaultWaitMs = 10_000;
const isWindows = process.platform === "win32";
/** Closing a descriptor drops all locks of the process on that file, so within this process callers wait for each other. */
const queues = new Map<string, Promise<unknown>>();

export const lockPathFor = (file: string): string => `${file}.beckon-lock`;

/** The lock of a killed process is free. If one process keeps the lock for `waitMs`, this throws. */
export function withFileLock<Result>(
  file: string,
  action: () => Promise<Result> | Result,
  waitMs = defaultWaitMs,
): Promise<Result> {
  const previous = queues.get(file) ?? Promise.resolve();
  const result = previous.then(() => runLocked(lockPathFor(file), action, waitMs));
  queues.set(
    file,
    result.catch(() => {}),
  );
  return result;
}

async function runLocked<Result>(
  path: string,
  action: () => Promise<Result> | Result,
  waitMs: number,
): Promise<Result> {
  let holder = holderOf(path);
  let end = performance.now() + waitMs;
  for (;;) {
    const release = tryLock(path);
    if (release) {
      try {
        return await action();
      } finally {
        release();
      }
    }
    // Several processes that take turns may need longer than one may keep the lock.
    const holderNow = holderOf(path);
    if (holderNow !== holder) {
      holder = holderNow;
      end = performance.now() + waitMs;
    }
    if (performance.now() > end) {
      throw new Error(
        `another beckon has been changing the same file for ${waitMs / 1_000} s (it holds ${path}). Try again when it is done.`,
      );
    }
    // Not always the same time: processes that try at the same moments would keep each other from the lock.
    await Bun.sleep(retryMs * (0.5 + Math.random()));
  }
}

/** Every holder removes its lock file, so each has one of its own. Inodes are reused, so the time of creation counts too. */
function holderOf(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stats ? `${stats.ino} ${stats.mtimeNs}` : null;
}

/** Null if another process has the lock, or removed its file meanwhile. */
function tryLock(path: string): (() => void) | null {
  const fd = openLockFile(path);
  if (fd === null) return null;
  emptyLockFile(fd);
  const lock = acquire(path, fd);
  if (lock && isSameFile(path, fd)) return () => release(path, fd, lock);
  lock?.release();
  closeSync(fd);
  return null;
}

/**
 * The folder can be a project's that others have written. SQLite would open a database that is there, and with a journal beside it
 * delete the file that the journal names (measured with 3.40; not with 3.53). beckon writes nothing into the lock file, and SQLite
 * ignores a journal beside an empty one.
 */
function emptyLockFile(fd: number): void {
  if (fstatSync(fd).size > 0) ftruncateSync(fd);
}

function acquire(path: string, fd: number): Lock | null {
  try {
    return acquireLock({ lock: path });
  } catch (error) {
    if (!isSameFile(path, fd)) return null;
    ignoreErrors(() => rmSync(path, { force: true }));
    closeSync(fd);
    throw error;
  }
}

/** The file is removed before the lock is released, so that nobody locks a removed file. Windows cannot remove an open file. */
function release(path: string, fd: number, lock: Lock): void {
  if (!isWindows) rmSync(path, { force: true });
  lock.release();
  closeSync(fd);
  if (isWindows) ignoreErrors(() => rmSync(path, { force: true }));
}

/** The open descriptor keeps the inode from being reused, so the same inode means the same file. */
function isSameFile(path: string, fd: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stats?.ino === fstatSync(fd, { bigint: true }).ino;
}

/** Null if its folder was gone: an uninstall that had the lock before may have removed it. */
function openLockFile(path: string): number | null {
  try {
    // It is emptied: as a link or a second name of another file, it would empty that one.
    return openOwnFile(path, constants.O_CREAT | constants.O_RDWR);
  } catch (cause) {
    if (errorCode(cause) !== "ENOENT")
      throw new Error(`beckon cannot write beside the file: ${path} (${errorCode(cause)})`, { cause });
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return null;
  }
}
