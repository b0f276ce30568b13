/**
 * Operations on files and folders that hold prompts, commands and the token: only their owner may read them. Every file in the
 * state folder is opened with `openOwnFile`: never through a link, and only if it is a regular file with one name.
 */
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
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { formatFileTime } from "../core/text/paths.ts";

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

/** The same for a folder in the state folder: a link is not followed there. */
export function ensureOwnFolder(folder: string): void {
  checkOwnFolder(folder);
  ensurePrivateFolder(folder);
}

/** Temporary files of writePrivateFile. BECKON_HOME can be the user's home folder, so other names must not match. */
const leftover = /^(?:auth-header|beckon-folders|off|[\w-]+(?:\.local)?\.jsonl?)\.\d+\.tmp$/;

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

export interface WriteOptions {
  /** Runs once the new content is on disk. */
  readonly beforeRename?: () => void;
  /**
   * False: the file survives a kill of beckon, but maybe not the loss of power. Waiting for the disk takes some 20 ms, in which
   * beckon cannot answer a request.
   */
  readonly isSynced?: boolean;
}

/** Locked by a virus scanner, an indexer or a backup, which let go after a moment. */
const lockedCodes: ReadonlySet<string> = new Set(["EPERM", "EACCES", "EBUSY"]);
const pausesMs = [5, 10, 20, 40, 80, 160, 320] as const;

/** Renames a file, also onto one that exists. On Windows it tries again while another program holds one of them. */
export function renameFile(
  from: string,
  to: string,
  { platform = process.platform, rename = renameSync } = {},
): void {
  for (let attempt = 0; ; attempt++) {
    try {
      rename(from, to);
      return;
    } catch (error) {
      const pauseMs = pausesMs[attempt];
      if (platform !== "win32" || pauseMs === undefined || !lockedCodes.has(errorCode(error))) throw error;
      Bun.sleepSync(pauseMs);
    }
  }
}

/** Replaces the file atomically (mode 0600). */
export function writePrivateFile(
  path: string,
  text: string | Buffer,
  { beforeRename = () => {}, isSynced = true }: WriteOptions = {},
): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    rmSync(temporary, { force: true });
    const fd = openSync(temporary, "wx", 0o600);
    try {
      writeFileSync(fd, text);
      if (isSynced) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    beforeRename();
    renameFile(temporary, path);
  } catch (error) {
    ignoreErrors(() => rmSync(temporary, { force: true }));
    throw error;
  }
  // Windows and some network file systems cannot sync a folder. The file is in place anyway.
  if (isSynced) ignoreErrors(() => syncFolder(dirname(path)));
}

export function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

// Both are undefined on Windows. Without O_NONBLOCK, opening a pipe blocks until another program opens its other end.
const nonBlocking = constants.O_NONBLOCK ?? 0;
const noFollow = constants.O_NOFOLLOW ?? 0;

/** Something else is in the place of one of beckon's own files. */
export class UnsafeFileError extends Error {
  /** `is a link` */
  readonly reason: string;
  constructor(path: string, reason: string) {
    super(`${path} ${reason}, so beckon does not open it. Move it away.`);
    this.name = "UnsafeFileError";
    this.reason = reason;
  }
}

/**
 * Opens one of beckon's own files. Throws UnsafeFileError if it is a link, not a regular file, has a second name, or belongs to
 * another user. Never blocks.
 */
export function openOwnFile(path: string, flags: number): number {
  if (noFollow === 0) checkOwnFile(path);
  let fd: number;
  try {
    fd = openSync(path, flags | noFollow | nonBlocking, 0o600);
  } catch (error) {
    // The system's own error names neither the file nor what it is: ELOOP, ENXIO, EISDIR.
    checkOwnFile(path);
    throw error;
  }
  const reason = findDanger(fstatSync(fd));
  if (reason === null) return fd;
  closeSync(fd);
  throw new UnsafeFileError(path, reason);
}

/** Throws UnsafeFileError if `openOwnFile` would, without opening the file. A missing file is safe. */
export function checkOwnFile(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const reason = stats ? findDanger(stats) : null;
  if (reason !== null) throw new UnsafeFileError(path, reason);
}

/** Throws UnsafeFileError if something else than a folder of this user is there. A missing folder is safe. */
export function checkOwnFolder(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return;
  const reason = stats.isDirectory() ? findOtherOwner(stats) : (findDanger(stats) ?? "is a file");
  if (reason !== null) throw new UnsafeFileError(path, reason);
}

/** Why beckon must not open it; null if it may. */
function findDanger(stats: Stats): string | null {
  if (stats.isSymbolicLink()) return "is a link";
  if (stats.isDirectory()) return "is a folder";
  if (stats.isFIFO()) return "is a pipe";
  if (stats.isSocket()) return "is a socket";
  if (!stats.isFile()) return "is a device";
  return findOtherOwner(stats) ?? (stats.nlink > 1 ? "has a second name (a hard link)" : null);
}

function findOtherOwner({ uid }: Stats): string | null {
  const own = process.getuid?.();
  return own === undefined || uid === own ? null : `belongs to user ${uid}, not to you (${own})`;
}

/**
 * Makes room for one of beckon's own files, if `openOwnFile` would refuse what is there. A file with a second name is replaced by
 * a copy, anything else is renamed: nothing is lost, and the target of a link is not touched. Returns a sentence for the log, or
 * null if there was nothing to do. Throws if it cannot be done.
 */
export function clearOwnPath(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const reason = stats ? findDanger(stats) : null;
  if (!stats || reason === null) return null;
  const name = basename(path);
  if (stats.isFile() && findOtherOwner(stats) === null && stats.size <= maxCopiedBytes) {
    const fd = openSync(path, constants.O_RDONLY | noFollow | nonBlocking);
    writePrivateFile(
      path,
      withFile(fd, () => readAll(fd, maxCopiedBytes)),
    );
    return `${name} had a second name (a hard link): beckon goes on with a copy of it`;
  }
  const aside = `${path}.set-aside-${formatFileTime(new Date())}`;
  renameSync(path, aside);
  return `${name} ${reason}: beckon does not open it, and has renamed it to ${basename(aside)}`;
}

const maxCopiedBytes = 512 * 1024 * 1024;

/** Like openOwnFile, but makes room first if something else is in the file's place. */
export function openOrClearOwnFile(
  path: string,
  flags: number,
  onCleared: (sentence: string) => void = () => {},
): number {
  try {
    return openOwnFile(path, flags);
  } catch (error) {
    if (!(error instanceof UnsafeFileError)) throw error;
    const sentence = clearOwnPath(path);
    if (sentence !== null) onCleared(sentence);
    return openOwnFile(path, flags);
  }
}

/**
 * Reads a regular file of at most `maxBytes`, also through a link: for files of the user and of other programs. Throws an error
 * with a code for anything else, and never blocks: another program may have put a pipe or a device at this path.
 */
export function readSmallFile(path: string, maxBytes: number): string {
  return decodeText(
    withFile(openSync(path, constants.O_RDONLY | nonBlocking), (fd) => readAll(fd, maxBytes)),
  );
}

/** Reads one of beckon's own files (see openOwnFile) of at most `maxBytes`. */
export function readOwnFile(path: string, maxBytes: number): string {
  return decodeText(readOwnBytes(path, maxBytes));
}

export function readOwnBytes(path: string, maxBytes: number): Buffer {
  return withFile(openOwnFile(path, constants.O_RDONLY), (fd) => readAll(fd, maxBytes));
}

/** Some editors on Windows write a byte order mark. */
const decodeText = (bytes: Buffer): string => bytes.toString("utf8").replace(/^\ufeff/, "");

function readAll(fd: number, maxBytes: number): Buffer {
  const stats = fstatSync(fd);
  if (!stats.isFile())
    throw createReadError("not a regular file", stats.isDirectory() ? "EISDIR" : "ENOTREG");
  if (stats.size > maxBytes) throw createReadError(`larger than ${maxBytes} bytes`, "EFBIG");
  const bytes = Buffer.alloc(stats.size);
  let length = 0;
  while (length < bytes.length) {
    const read = readSync(fd, bytes, length, bytes.length - length, null);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}

/** Closes the file at the end. */
export function withFile<T>(fd: number, use: (fd: number) => T): T {
  try {
    return use(fd);
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
  if (error instanceof UnsafeFileError) return `it ${error.reason}`;
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}

export function ignoreErrors(action: () => void): void {
  try {
    action();
  } catch {}
}

/** Returns `fallback` if nothing can be read. */
export function readOr<Content>(read: () => Content, fallback: Content): Content {
  try {
    return read();
  } catch {
    return fallback;
  }
}

/** Changes whenever the file does. A change of its mode changes only ctime. */
export function readFileStamp(path: string): string {
  try {
    const { mtimeMs, ctimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
  } catch (error) {
    return errorCode(error);
  }
}
