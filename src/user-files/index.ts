/**
 * JSON files that belong to the user: an agent's settings with beckon's entries in them, and config.json.
 *
 * - index.ts (here): reads the file, and replaces it as a whole or not at all
 * - hooks.ts: beckon's hooks in the text of the settings; json-text.ts edits that text
 * - config.ts: config.json with its lines and its mistakes; config-edit.ts edits its text
 * - hook-command.ts: the command that a hook runs
 * - owned-path.ts, file-lock.ts: where beckon may write, and one writer at a time
 * - backups.ts: the file as it was; diff.ts: what would change
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { limits } from "../core/limits.ts";
import { errorCode, ignoreErrors, removeEmptyFolders, renameFile, syncFolder } from "../storage/files.ts";
import { lockPathFor, withFileLock } from "./file-lock.ts";
import { SettingsError } from "./json-text.ts";
import { resolveOwnedPath } from "./owned-path.ts";

export interface SettingsFile {
  /** As the agent knows it. `target` is where its links lead. */
  readonly path: string;
  readonly target: string;
  /** Null if there is no such file. */
  readonly bytes: Buffer | null;
  readonly text: string | null;
  readonly mode: number;
  readonly gid: number | null;
  /** Hard links keep the old text when the file is replaced. */
  readonly hasHardLinks: boolean;
}

/** Throws an error for the user if the file must not or cannot be read. */
function readSettings(path: string, home: string): SettingsFile {
  const { target, stats } = resolveOwnedPath(path, home);
  if (!stats) return { path, target, bytes: null, text: null, mode: 0o600, gid: null, hasHardLinks: false };
  if (!stats.isFile()) {
    const what = stats.isDirectory() ? "a folder" : "not a regular file";
    throw new Error(`${target} is ${what}, but the agent expects its settings there. Move it away.`);
  }
  if (stats.size > limits.maxAgentSettingsBytes) {
    const maxMegabytes = limits.maxAgentSettingsBytes / 2 ** 20;
    throw new Error(`${target} is larger than ${maxMegabytes} MB. beckon does not change it.`);
  }
  const bytes = readBytes(target);
  return {
    path,
    target,
    bytes,
    text: decodeText(bytes, target),
    mode: stats.mode & 0o7777,
    gid: stats.gid,
    hasHardLinks: stats.nlink > 1,
  };
}

function readBytes(path: string): Buffer {
  try {
    // Non-blocking: if a pipe has taken the file's place, opening it would wait for a writer.
    const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      return readFileSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (cause) {
    throw new Error(`${path} cannot be read (${errorCode(cause)})`, { cause });
  }
}

/** Invalid UTF-8 could not be written back. The byte order mark of Windows' editors is kept. */
function decodeText(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Error(`${path} is not in UTF-8. Save it as UTF-8, then try again.`, { cause });
  }
}

/** Throws an error for the user. root could write a read-only file, but somebody made it read-only on purpose. */
export function assertWritable({ target, bytes, mode }: SettingsFile): void {
  if (bytes && (mode & 0o200) === 0)
    throw new Error(`${target} is read-only. To let beckon change it: chmod u+w '${target}'`);
  let folder = dirname(target);
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw createWriteError(target, cause);
  }
}

export interface Rewrite {
  /** Null: the file is removed. */
  readonly text: string | Buffer | null;
  /** Writes what must be on disk before the file changes. Returns how to undo that if the change fails. */
  readonly prepare?: (createdFolder: string | null) => () => void;
}

export interface RewriteOptions {
  readonly home: string;
  readonly lockMs?: number;
  /** For tests: what another program does at the worst moment. */
  readonly beforeCompare?: () => void;
}

export interface Rewritten {
  readonly file: SettingsFile;
  /** The topmost folder that had to be created for it. Null if there is none. */
  readonly createdFolder: string | null;
}

const maxTries = 10;
const retryMs = 100;

/**
 * Calls `decide` again whenever the file has changed, so that no change of another program is lost. Returns null if `decide`
 * does, and then changes nothing.
 */
export async function rewriteSettings(
  path: string,
  decide: (file: SettingsFile) => Rewrite | null,
  options: RewriteOptions,
): Promise<Rewritten | null> {
  const { home, beforeCompare = () => {} } = options;
  const first = await readStable(path, home, decide);
  if (!first.decision) {
    await removeLeftovers(first.file.target);
    return null;
  }
  assertWritable(first.file);
  const { target } = first.file;
  const createdFolder = createFolder(dirname(target));
  try {
    return await withFileLock(
      target,
      async () => {
        for (let tries = 0; tries < maxTries; tries++) {
          const { file, decision } = await readStable(path, home, decide);
          if (!decision) return null;
          const readAgain = () => readSettings(path, home);
          if (replaceFile(file, decision, { createdFolder, readAgain, beforeCompare }))
            return { file, createdFolder };
        }
        throw new Error(
          `another program keeps changing ${target}, so beckon changed nothing. Close it, then try again.`,
        );
      },
      options.lockMs,
    );
  } catch (error) {
    removeEmptyFolders(dirname(target), createdFolder);
    throw error;
  }
}

const temporaryPathFor = (target: string): string => `${target}.beckon-tmp`;

/** Removes what a killed install left beside the file. A running one has the lock, so its files stay. */
async function removeLeftovers(target: string): Promise<void> {
  if (![temporaryPathFor(target), lockPathFor(target)].some((path) => existsSync(path))) return;
  await withFileLock(target, () => rmSync(temporaryPathFor(target), { force: true }), 0).catch(() => {});
}

/** Reads the file and decides. Some programs empty a file before they write it, so text that makes no sense is read again. */
export async function readStable<Decision>(
  path: string,
  home: string,
  decide: (file: SettingsFile) => Decision,
): Promise<{ readonly file: SettingsFile; readonly decision: Decision }> {
  for (let tries = 0; ; tries++) {
    const file = readSettings(path, home);
    try {
      return { file, decision: decide(file) };
    } catch (error) {
      await Bun.sleep(retryMs);
      const isFinal = tries >= maxTries || hasSameBytes(file, readSettings(path, home));
      if (!isFinal) continue;
      throw error instanceof SettingsError
        ? new Error(`${file.target}, ${error.message}`, { cause: error })
        : error;
    }
  }
}

const hasSameBytes = (a: SettingsFile, b: SettingsFile): boolean =>
  a.target === b.target && (a.bytes && b.bytes ? a.bytes.equals(b.bytes) : a.bytes === b.bytes);

/** Returns false, and changes nothing, if the file has changed since it was read. */
function replaceFile(
  file: SettingsFile,
  { text, prepare = () => () => {} }: Rewrite,
  options: { createdFolder: string | null; readAgain: () => SettingsFile; beforeCompare: () => void },
): boolean {
  const { target } = file;
  // The lock makes this the only writer, so a leftover of a killed one can be overwritten.
  const temporary = temporaryPathFor(target);
  let undo = () => {};
  try {
    if (text !== null) writeTemporary(temporary, text, file);
    undo = prepare(options.createdFolder);
    options.beforeCompare();
    if (!hasSameBytes(file, options.readAgain())) {
      undo();
      return false;
    }
    if (text === null) rmSync(target);
    else renameFile(temporary, target);
  } catch (cause) {
    undo();
    throw createWriteError(target, cause);
  } finally {
    ignoreErrors(() => rmSync(temporary, { force: true }));
  }
  ignoreErrors(() => syncFolder(dirname(target)));
  return true;
}

function writeTemporary(path: string, text: string | Buffer, { bytes, mode, gid }: SettingsFile): void {
  rmSync(path, { force: true });
  const fd = openSync(path, "wx", 0o600);
  try {
    writeFileSync(fd, text);
    if (bytes && process.platform !== "win32") {
      if (gid !== null) ignoreErrors(() => fchownSync(fd, -1, gid));
      fchmodSync(fd, mode);
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Returns the topmost folder that was created. Null if there was none. */
function createFolder(folder: string): string | null {
  try {
    return mkdirSync(folder, { recursive: true, mode: 0o700 }) ?? null;
  } catch (cause) {
    throw createWriteError(folder, cause);
  }
}

function createWriteError(path: string, cause: unknown): Error {
  const reason = describeSystemError(cause);
  if (reason) return new Error(`${path} cannot be changed: ${reason}. It is as it was.`, { cause });
  return cause instanceof Error ? cause : new Error(String(cause));
}

const systemErrors: Readonly<Record<string, string>> = {
  EACCES: "you may not write there",
  EPERM: "the system does not permit it",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "your disk quota is used up",
  EBUSY: "it is a mount point",
  ENOTDIR: "part of its path is not a folder",
};

/** "the disk is full (ENOSPC)". Null if it is not an error of the system. */
export function describeSystemError(error: unknown): string | null {
  const code = errorCode(error);
  if (!systemErrors[code] && !/^E[A-Z0-9]+$/.test(code)) return null;
  return `${systemErrors[code] ?? "the system refuses it"} (${code})`;
}
