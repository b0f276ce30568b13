/** One writer of beckon's at a time, whichever beckon it is: the lock lies beside the file, not in a state folder. */
import { closeSync, constants, fstatSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode, ignoreErrors } from "../storage/files.ts";
import { acquireLock, type Lock } from "../storage/lock.ts";

const againMs = 25;
const windows = process.platform === "win32";
/** Closing a descriptor drops every lock that this process has on the file: within it, one after the other. */
const inThisProcess = new Map<string, Promise<unknown>>();

export const lockFor = (file: string): string => `${file}.beckon-lock`;

/** A process that was killed frees its lock. One that hangs does not, and after `waitMs` the person is told. */
export function withFileLock<Result>(
  file: string,
  act: () => Promise<Result> | Result,
  waitMs = 10_000,
): Promise<Result> {
  const before = inThisProcess.get(file) ?? Promise.resolve();
  const turn = before.then(() => locked(lockFor(file), act, waitMs));
  inThisProcess.set(
    file,
    turn.catch(() => {}),
  );
  return turn;
}

async function locked<Result>(
  path: string,
  act: () => Promise<Result> | Result,
  waitMs: number,
): Promise<Result> {
  const end = performance.now() + waitMs;
  for (;;) {
    const release = tryLock(path);
    if (release) {
      try {
        return await act();
      } finally {
        release();
      }
    }
    if (performance.now() > end) {
      throw new Error(
        `another beckon has been changing the same file for ${waitMs / 1_000} s (it holds ${path}). Try again once it is done.`,
      );
    }
    await Bun.sleep(againMs);
  }
}

/** null: another has it, or its last holder removed it while we looked. */
function tryLock(path: string): (() => void) | null {
  const fd = openLock(path);
  if (fd === null) return null;
  const lock = take(path, fd);
  if (lock && isStill(path, fd)) return () => release(path, fd, lock);
  lock?.release();
  closeSync(fd);
  return null;
}

function take(path: string, fd: number): Lock | null {
  try {
    return acquireLock({ lock: path });
  } catch (error) {
    if (!isStill(path, fd)) return null;
    ignoreErrors(() => rmSync(path, { force: true }));
    closeSync(fd);
    throw error;
  }
}

/** Removed while it is held, so that nobody takes the lock of a file that is no longer there. Windows removes no open file. */
function release(path: string, fd: number, lock: Lock): void {
  if (!windows) rmSync(path, { force: true });
  lock.release();
  closeSync(fd);
  if (windows) ignoreErrors(() => rmSync(path, { force: true }));
}

/** Our own descriptor keeps the inode from being used again: the same one means that it was never removed. */
function isStill(path: string, fd: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found?.ino === fstatSync(fd, { bigint: true }).ino;
}

/** null: its folder was gone, as an uninstall that had the lock before us may have removed it. */
function openLock(path: string): number | null {
  try {
    return openSync(path, constants.O_CREAT | constants.O_RDWR | (constants.O_NOFOLLOW ?? 0), 0o600);
  } catch (cause) {
    if (errorCode(cause) !== "ENOENT") {
      throw new Error(`beckon cannot write beside the file: ${path} (${errorCode(cause)})`, { cause });
    }
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return null;
  }
}
