/** An agent's settings file: read with care, and replaced whole or not at all. */
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
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { limits } from "../core/limits.ts";
import { errorCode, ignoreErrors, removeEmptyFolders, syncFolder } from "../storage/files.ts";
import { lockFor, withFileLock } from "./file-lock.ts";
import { resolveOwned } from "./owned-path.ts";
import { reasonOf } from "./reason.ts";
import { SettingsError } from "./text.ts";

export interface SettingsFile {
  /** As the agent knows it; `target` is where its links lead. */
  readonly path: string;
  readonly target: string;
  /** null: there is no such file. */
  readonly bytes: Buffer | null;
  readonly text: string | null;
  readonly mode: number;
  readonly gid: number | null;
  /** A name elsewhere for the same file, made with `ln`, stays with the old text. */
  readonly hasOtherNames: boolean;
}

/** Throws, in words for people, where it must not or cannot be read. */
function readSettings(path: string, home: string): SettingsFile {
  const { target, found } = resolveOwned(path, home);
  if (!found) return { path, target, bytes: null, text: null, mode: 0o600, gid: null, hasOtherNames: false };
  if (!found.isFile()) {
    const what = found.isDirectory() ? "a folder" : "no regular file";
    throw new Error(`${target} is ${what}, and the agent's settings should be there. Move it away.`);
  }
  if (found.size > limits.maxAgentSettingsBytes) {
    throw new Error(`${target} is larger than ${limits.maxAgentSettingsBytes} bytes: beckon leaves it alone`);
  }
  const bytes = readBytes(target);
  return {
    path,
    target,
    bytes,
    text: textOf(bytes, target),
    mode: found.mode & 0o7777,
    gid: found.gid,
    hasOtherNames: found.nlink > 1,
  };
}

function readBytes(path: string): Buffer {
  try {
    // Without waiting: should a pipe be put in its place now, opening it would last until somebody writes into it.
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

/** A byte that is no UTF-8 could not be given back. The mark that Windows' editors begin a file with stays. */
function textOf(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Error(`${path} is not written in UTF-8. Save it as UTF-8, then try again.`, { cause });
  }
}

/** Throws, in words for people. Root may write everything, but what is read-only was meant to be. */
export function refuseReadOnly({ target, bytes, mode }: SettingsFile): void {
  if (bytes && (mode & 0o200) === 0) {
    throw new Error(
      `${target} cannot be changed: it is read-only. If it may be, then: chmod u+w '${target}'`,
    );
  }
  let folder = dirname(target);
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw couldNot(target, cause);
  }
}

export interface Rewrite {
  /** null: the file goes. */
  readonly text: string | Buffer | null;
  /** What must be on disk before the file changes; returns what takes it back should that fail. */
  readonly prepare?: (madeFolder: string | null) => () => void;
}

export interface RewriteOptions {
  readonly home: string;
  readonly lockMs?: number;
  /** For tests: what another program does at the worst moment. */
  readonly beforeCompare?: () => void;
}

export interface Rewritten {
  readonly file: SettingsFile;
  /** The topmost folder that had to be made for it. */
  readonly madeFolder: string | null;
}

const maxTries = 10;
const tornMs = 100;

/**
 * null: `decide` saw nothing to change, and nothing was touched. It is asked again whenever the file has changed, so
 * that no word of another program is lost.
 */
export async function rewriteSettings(
  path: string,
  decide: (file: SettingsFile) => Rewrite | null,
  options: RewriteOptions,
): Promise<Rewritten | null> {
  const { home, beforeCompare = () => {} } = options;
  const first = await settled(path, home, decide);
  if (!first.next) {
    await sweep(first.file.target);
    return null;
  }
  refuseReadOnly(first.file);
  const { target } = first.file;
  const madeFolder = makeFolder(dirname(target));
  try {
    return await withFileLock(
      target,
      async () => {
        for (let tries = 0; tries < maxTries; tries++) {
          const { file, next } = await settled(path, home, decide);
          if (!next) return null;
          const again = () => readSettings(path, home);
          if (replace(file, next, { madeFolder, again, beforeCompare })) return { file, madeFolder };
        }
        throw new Error(
          `another program changes ${target} all the time: nothing was changed. Close it, then try again.`,
        );
      },
      options.lockMs,
    );
  } catch (error) {
    removeEmptyFolders(dirname(target), madeFolder);
    throw error;
  }
}

const temporaryFor = (target: string): string => `${target}.beckon-tmp`;

/** What an install that was killed left beside the file. One that still runs has the lock, and keeps its own. */
async function sweep(target: string): Promise<void> {
  if (![temporaryFor(target), lockFor(target)].some((path) => existsSync(path))) return;
  await withFileLock(target, () => rmSync(temporaryFor(target), { force: true }), 0).catch(() => {});
}

/** The file, and what `decide` makes of it. Some programs empty a file before they write it: what makes no sense is read again. */
export async function settled<Decided>(
  path: string,
  home: string,
  decide: (file: SettingsFile) => Decided,
): Promise<{ readonly file: SettingsFile; readonly next: Decided }> {
  for (let tries = 0; ; tries++) {
    const file = readSettings(path, home);
    try {
      return { file, next: decide(file) };
    } catch (error) {
      await Bun.sleep(tornMs);
      const isLasting = tries >= maxTries || isSame(file, readSettings(path, home));
      if (isLasting) throw error instanceof SettingsError ? named(file.target, error) : error;
    }
  }
}

const named = (path: string, cause: SettingsError): Error =>
  new Error(`${path}, ${cause.message}`, { cause });

const isSame = (a: SettingsFile, b: SettingsFile): boolean =>
  a.target === b.target && (a.bytes && b.bytes ? a.bytes.equals(b.bytes) : a.bytes === b.bytes);

/** false: the file is not what it was when it was read, and has been left alone. */
function replace(
  file: SettingsFile,
  { text, prepare = () => () => {} }: Rewrite,
  given: { madeFolder: string | null; again: () => SettingsFile; beforeCompare: () => void },
): boolean {
  const { target } = file;
  // Under the lock there is one writer: what a killed one left is overwritten.
  const temporary = temporaryFor(target);
  let undo = () => {};
  try {
    if (text !== null) writeWhole(temporary, text, file);
    undo = prepare(given.madeFolder);
    given.beforeCompare();
    if (!isSame(file, given.again())) {
      undo();
      return false;
    }
    if (text === null) rmSync(target);
    else renameSync(temporary, target);
  } catch (cause) {
    undo();
    throw couldNot(target, cause);
  } finally {
    ignoreErrors(() => rmSync(temporary, { force: true }));
  }
  ignoreErrors(() => syncFolder(dirname(target)));
  return true;
}

function writeWhole(path: string, text: string | Buffer, { bytes, mode, gid }: SettingsFile): void {
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

/** The topmost folder that was not there. */
function makeFolder(folder: string): string | null {
  try {
    return mkdirSync(folder, { recursive: true, mode: 0o700 }) ?? null;
  } catch (cause) {
    throw couldNot(folder, cause);
  }
}

function couldNot(path: string, cause: unknown): Error {
  const reason = reasonOf(cause);
  if (reason) return new Error(`${path} cannot be changed: ${reason}. It is as it was.`, { cause });
  return cause instanceof Error ? cause : new Error(String(cause));
}
