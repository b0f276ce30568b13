/** Reads the agent's own transcripts: only inside its folder, only new bytes, never more than a limit in memory. */
import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { limits } from "../../../core/limits.ts";
import type { Env } from "../../../system/home.ts";
import { claudeFolder } from "../setup/folder.ts";
import {
  cutAnswer,
  emptyTranscript,
  foldTranscript,
  lastAnswer,
  type TranscriptFacts,
  type TranscriptFold,
  transcriptFacts,
} from "../transcript.ts";
import { readRow } from "../transcript-row.ts";

/** The last thing the model said. null: no file, no answer in the last turn, or only tool calls and thinking. */
export async function extractLastAssistantResponse(
  path: string,
  maxLength: number = limits.maxTextLength,
): Promise<string | null> {
  const file = await openRegular(path);
  if (!file) return null;
  try {
    const { size } = await file.stat();
    for (let length = limits.transcriptTailBytes; ; length *= 4) {
      const lines: string[] = [];
      const tail = tailOf(size, length);
      await eachRow(file, tail, size, (line) => lines.push(line));
      const { text, whole } = lastAnswer(lines);
      if (whole || !tail.midRow || length >= limits.maxTranscriptTailBytes) return cutAnswer(text, maxLength);
    }
  } finally {
    await file.close();
  }
}

export interface TranscriptReader {
  /** What the transcript says now. null: there is no such file. */
  read(path: string): Promise<TranscriptFacts | null>;
  forget(path: string): void;
}

export function createTranscriptReader(): TranscriptReader {
  const followed = new Map<string, Promise<Followed | null>>();

  return {
    async read(path) {
      // One after the other: two reads at once would fold the same rows twice.
      const before = followed.get(path) ?? Promise.resolve(null);
      const next = before.catch(() => null).then((last) => readOn(path, last));
      followed.delete(path);
      followed.set(path, next);
      const [oldest] = followed.keys();
      if (oldest !== undefined && followed.size > limits.maxTranscriptsFollowed) followed.delete(oldest);
      const now = await next;
      return now && transcriptFacts(now.fold, now.fromStart);
    },
    forget(path) {
      followed.delete(path);
    },
  };
}

/** null if `path` is not a transcript of Claude Code's. */
export const findTranscript = (path: string, env: Env): Promise<string | null> =>
  insideAgentFolder(path, [join(claudeFolder(env), "projects")]);

/**
 * The real path of a transcript, if it is a regular .jsonl file under one of the roots (the agent's `projects`
 * folders). null for all else: a value from an event must not become a path to read somewhere else.
 */
export async function insideAgentFolder(path: string, roots: readonly string[]): Promise<string | null> {
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
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Where reading goes on: at the start of a row, or somewhere in one, which is then passed over. */
interface Spot {
  readonly offset: number;
  readonly midRow: boolean;
}

interface Followed {
  readonly inode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly spot: Spot;
  /** The bytes before the spot. Other ones, or none, mean another file: inodes are soon used again. */
  readonly mark: Buffer;
  readonly fromStart: boolean;
  readonly fold: TranscriptFold;
}

const markBytes = 64;

async function readOn(path: string, last: Followed | null): Promise<Followed | null> {
  const file = await openRegular(path);
  if (!file) return null;
  try {
    const { ino: inode, size, mtimeMs } = await file.stat();
    if (last && last.inode === inode && last.size === size && last.mtimeMs === mtimeMs) return last;
    const goesOn = last && last.inode === inode && (await hasMark(file, last));
    const from = goesOn ? last.spot : tailOf(size, limits.maxTranscriptFirstReadBytes);
    const fold = goesOn ? last.fold : emptyTranscript();
    const spot = await eachRow(file, from, size, (line) => foldTranscript(fold, line));
    const mark = await readAt(file, Math.max(0, spot.offset - markBytes), spot.offset);
    return { inode, size, mtimeMs, spot, mark, fromStart: goesOn ? last.fromStart : !from.midRow, fold };
  } finally {
    await file.close();
  }
}

async function hasMark(file: FileHandle, { spot, mark }: Followed): Promise<boolean> {
  return mark.equals(await readAt(file, spot.offset - mark.length, spot.offset));
}

/** A byte more than asked for, which tells whether the tail begins with a row. */
function tailOf(size: number, length: number): Spot {
  return size <= length ? { offset: 0, midRow: false } : { offset: size - length - 1, midRow: true };
}

/** Hands over each whole row and says where to go on. A torn last row is left for the next time. */
async function eachRow(
  file: FileHandle,
  from: Spot,
  size: number,
  onRow: (line: string) => void,
): Promise<Spot> {
  let passing = from.midRow;
  let next = from;
  let pieces: Buffer[] = [];
  let held = 0;
  for (let position = from.offset; position < size; ) {
    const chunk = await readAt(file, position, Math.min(size, position + limits.transcriptChunkBytes));
    if (chunk.length === 0) break;
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const fits = held + end - start <= limits.maxTranscriptRowBytes;
      if (fits && !passing) onRow(Buffer.concat([...pieces, chunk.subarray(start, end)]).toString());
      passing = false;
      pieces = [];
      held = 0;
      start = end + 1;
      next = { offset: position + start, midRow: false };
    }
    position += chunk.length;
    if (passing) continue;
    pieces.push(chunk.subarray(start));
    held += chunk.length - start;
    passing = held > limits.maxTranscriptRowBytes;
    if (passing) pieces = [];
  }
  // What parses is no part of a longer row: only its line break is missing.
  const rest = passing ? "" : Buffer.concat(pieces).toString();
  if (readRow(rest) === null) return next;
  onRow(rest);
  return { offset: next.offset + held, midRow: false };
}

async function readAt(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, to - from));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
  return buffer.subarray(0, bytesRead);
}

/** Never waits for the other end of a pipe, as opening one to read would. */
async function openRegular(path: string): Promise<FileHandle | null> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => null);
  if (!file) return null;
  const stats = await file.stat().catch(() => null);
  if (stats?.isFile()) return file;
  await file.close();
  return null;
}
