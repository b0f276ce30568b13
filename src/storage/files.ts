/** Operations on files and folders that hold prompts, commands and the token: only their owner may read them. */
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

const maxTries = 5;
const leftoverAgeMs = 60_000;

/** Creates the folder with mode 0700, or corrects the mode. Throws if the folder belongs to another user. */
export function ensurePrivateFolder(folder: string): void {
  for (let tries = 1; ; tries++) {
    try {
      createOnce(folder);
      return;
    } catch (error) {
      // An uninstall that runs at the same time can remove the folder while it is empty.
      if (errorCode(error) !== "ENOENT" || tries === maxTries) throw error;
    }
  }
}

function createOnce(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new Error(
      `cannot create the folder ${folder} (${errorCode(cause)}). Check what is at that path, or set BECKON_HOME to another folder.`,
      { cause },
    );
  }
  const uid = process.getuid?.();
  if (uid === undefined) return;
  const createError = (reason: string) =>
    new Error(
      `${folder} ${reason}, and beckon keeps prompts and a token there. Set BECKON_HOME to a folder of your own.`,
    );
  const link = lstatSync(folder);
  // The owner of a link can point it to another folder at any time.
  if (link.isSymbolicLink() && link.uid !== uid && link.uid !== 0) {
    throw createError(`is a link that belongs to user ${link.uid}, not to you (${uid})`);
  }
  const target = statSync(folder);
  if (target.uid !== uid) throw createError(`belongs to user ${target.uid}, not to you (${uid})`);
  if ((target.mode & 0o077) !== 0) chmodSync(folder, 0o700);
  removeLeftovers(folder);
}

/** Temporary files of writePrivateFile. BECKON_HOME can be the user's home folder, so other names must not match. */
const leftover = /^(?:auth-header|off|[\w-]+(?:\.local)?\.jsonl?)\.\d+\.tmp$/;

/** Removes the temporary files that a killed process left behind. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!leftover.test(name)) continue;
    const path = join(folder, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    const isOld = stats?.isFile() && Math.abs(Date.now() - stats.mtimeMs) > leftoverAgeMs;
    if (isOld) rmSync(path, { force: true });
  }
}

/** Replaces the file atomically (mode 0600, synced to disk). `beforeRename` runs once the new content is on disk. */
export function writePrivateFile(
  path: string,
  text: string | Buffer,
  beforeRename: () => void = () => {},
): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    rmSync(temporary, { force: true });
    const fd = openSync(temporary, "wx", 0o600);
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    beforeRename();
    renameSync(temporary, path);
  } catch (error) {
    ignoreErrors(() => rmSync(temporary, { force: true }));
    throw error;
  }
  // Windows and some network file systems cannot sync a folder. The file is in place anyway.
  ignoreErrors(() => syncFolder(dirname(path)));
}

export function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Reads a regular file of at most `maxBytes`. Throws an error with a code for anything else, and never blocks: another
 * program may have put a pipe or a device at this path.
 */
export function readSmallFile(path: string, maxBytes: number): string {
  // Without O_NONBLOCK, opening a pipe blocks until another program writes to it.
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile())
      throw createReadError("not a regular file", stats.isDirectory() ? "EISDIR" : "ENOTREG");
    if (stats.size > maxBytes) throw createReadError(`larger than ${maxBytes} bytes`, "EFBIG");
    const bytes = Buffer.alloc(Math.min(stats.size, maxBytes));
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(fd, bytes, length, bytes.length - length, null);
      if (read === 0) break;
      length += read;
    }
    // Some editors on Windows write a byte order mark.
    return bytes.toString("utf8", 0, length).replace(/^\ufeff/, "");
  } finally {
    closeSync(fd);
  }
}

function createReadError(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

/**
 * Removes a file or a folder with its contents, without following links. Throws at the first that cannot be removed.
 * rmSync with `recursive` is not used: under Wine 8, Bun 1.4.4 fails it with EFAULT.
 */
export function removeTree(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) {
    if (stats) unlinkSync(path);
    return;
  }
  for (const name of readdirSync(path)) removeTree(join(path, name));
  rmdirSync(path);
}

/** Removes the folders from `lowest` up to `topmost`, and stops at the first that is not empty. */
export function removeEmptyFolders(lowest: string, topmost: string | null): void {
  if (!topmost) return;
  ignoreErrors(() => {
    for (let folder = lowest; folder.startsWith(topmost); folder = dirname(folder)) {
      if (existsSync(folder)) rmdirSync(folder);
    }
  });
}

/** The system's error code (`ENOSPC`), or the message of an error without one. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}

export function ignoreErrors(action: () => void): void {
  try {
    action();
  } catch {}
}
