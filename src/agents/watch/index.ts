/** Reading the files that agents write themselves: only below the agent's own folders, and only what was added. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import { limits } from "../../core/limits.ts";

/**
 * The real path of a transcript, if it is a regular .jsonl file under one of the roots (the agent's `projects`
 * folders). null otherwise: a value from an event must not become a path to read somewhere else.
 */
export async function findInsideFolders(path: string, roots: readonly string[]): Promise<string | null> {
  if (!isAbsolute(path) || path.length > limits.maxPathLength || path.includes("\0")) return null;
  if (path.split(/[\\/]/).includes("..")) return null;
  const real = await realpath(path).catch(() => null);
  if (!real?.endsWith(".jsonl")) return null;
  const stats = await lstat(real).catch(() => null);
  if (!stats?.isFile()) return null;
  for (const root of roots) {
    const realRoot = await realpath(root).catch(() => null);
    if (realRoot !== null && isUnder(real, realRoot)) return real;
  }
  return null;
}

function isUnder(path: string, folder: string): boolean {
  const rest = relative(folder, path);
  return rest !== "" && rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

const readFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Does not block on a pipe, as opening one for reading usually does. */
export async function openRegular(path: string, moreFlags = 0): Promise<FileHandle | null> {
  const file = await open(path, readFlags | moreFlags).catch(() => null);
  if (!file) return null;
  const stats = await file.stat().catch(() => null);
  if (stats?.isFile()) return file;
  await file.close();
  return null;
}
/** Follows a file of rows that only grows. */
export interface RowFollower {
  /** Calls `onRow` for each complete row that was added since the last call. False if the file cannot be read. */
  readNew(onRow: (row: string) => void): boolean;
}

/**
 * The first call reads the first row and the last `tailBytes` of a longer file: for logs whose last rows have the totals.
 * Rows that are too long are left out.
 */
export function createRowFollower(path: string, tailBytes = limits.transcriptTailBytes): RowFollower {
  let offset = -1;
  let inode = 0;
  let isMidRow = false;
  let rest: Buffer = Buffer.alloc(0);

  function readRange(file: number, from: number, to: number): Buffer {
    const buffer = Buffer.allocUnsafe(to - from);
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, from));
  }

  function readFirstRow(file: number, onRow: (row: string) => void): void {
    const start = readRange(file, 0, limits.maxTranscriptRowBytes);
    const end = start.indexOf(10);
    if (end > 0) onRow(start.toString("utf8", 0, end));
  }

  function addChunk(chunk: Buffer, onRow: (row: string) => void): void {
    const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10, start)) {
      if (!isMidRow && end > start) onRow(text.toString("utf8", start, end));
      isMidRow = false;
      start = end + 1;
    }
    const isTooLong = text.length - start > limits.maxTranscriptRowBytes;
    if (isTooLong) isMidRow = true;
    rest = isTooLong || isMidRow ? Buffer.alloc(0) : Buffer.from(text.subarray(start));
  }

  return {
    readNew(onRow) {
      let file: number;
      try {
        file = openSync(path, readFlags | (constants.O_NOFOLLOW ?? 0));
      } catch {
        return false;
      }
      try {
        const { size, ino } = fstatSync(file);
        if (offset < 0 || ino !== inode || size < offset) {
          isMidRow = size > tailBytes;
          if (isMidRow) readFirstRow(file, onRow);
          // One byte more than asked for: if the tail starts with a row, that byte ends the row before it.
          offset = isMidRow ? size - tailBytes - 1 : 0;
          inode = ino;
          rest = Buffer.alloc(0);
        }
        while (offset < size) {
          const chunk = readRange(file, offset, Math.min(size, offset + limits.transcriptChunkBytes));
          if (chunk.length === 0) break;
          offset += chunk.length;
          addChunk(chunk, onRow);
        }
        return true;
      } finally {
        closeSync(file);
      }
    },
  };
}
