/** Reads Claude Code's transcripts: only files in its own folder, only new bytes, never more than a limit in memory. */
import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { limits } from "../../../core/limits.ts";
import type { Env } from "../../../system/folders.ts";
import { claudeFolder } from "../setup/folder.ts";
import {
  addTranscriptRow,
  createTranscriptState,
  findLastResponse,
  parseRow,
  summarizeTranscript,
  type TranscriptFacts,
  type TranscriptState,
  truncateResponse,
} from "../transcript.ts";

/** The model's last response. null if there is no file, no response in the last turn, or only tool calls and thinking. */
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
      const tail = findTail(size, length);
      await readRows(file, tail, size, (line) => lines.push(line));
      const { text, isWhole } = findLastResponse(lines);
      if (isWhole || !tail.isMidRow || length >= limits.maxTranscriptTailBytes)
        return truncateResponse(text, maxLength);
    }
  } finally {
    await file.close();
  }
}

export interface TranscriptReader {
  /** What the transcript says now. null if there is no such file. */
  read(path: string): Promise<TranscriptFacts | null>;
  forget(path: string): void;
}

export function createTranscriptReader(): TranscriptReader {
  const transcripts = new Map<string, Promise<ReadTranscript | null>>();

  return {
    async read(path) {
      // One after another: two reads at once would add the same rows twice.
      const before = transcripts.get(path) ?? Promise.resolve(null);
      const next = before.catch(() => null).then((last) => readNewRows(path, last));
      transcripts.delete(path);
      transcripts.set(path, next);
      const [oldest] = transcripts.keys();
      if (oldest !== undefined && transcripts.size > limits.maxTranscriptsFollowed)
        transcripts.delete(oldest);
      const now = await next;
      return now && summarizeTranscript(now.state, now.fromStart);
    },
    forget(path) {
      transcripts.delete(path);
    },
  };
}

/** null if `path` is not one of Claude Code's transcripts. */
export const findTranscript = (path: string, env: Env): Promise<string | null> =>
  findInsideFolders(path, [join(claudeFolder(env), "projects")]);

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

/** Where reading continues: at the start of a row, or inside of one, which is then skipped. */
interface Position {
  readonly offset: number;
  readonly isMidRow: boolean;
}

interface ReadTranscript {
  readonly inode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly position: Position;
  /** The bytes before the position. If they differ, it is another file: inodes are soon used again. */
  readonly mark: Buffer;
  readonly fromStart: boolean;
  readonly state: TranscriptState;
}

const markBytes = 64;

async function readNewRows(path: string, last: ReadTranscript | null): Promise<ReadTranscript | null> {
  const file = await openRegular(path);
  if (!file) return null;
  try {
    const { ino: inode, size, mtimeMs } = await file.stat();
    if (last && last.inode === inode && last.size === size && last.mtimeMs === mtimeMs) return last;
    const isContinued = last && last.inode === inode && (await hasMark(file, last));
    const from = isContinued ? last.position : findTail(size, limits.maxTranscriptFirstReadBytes);
    const state = isContinued ? last.state : createTranscriptState();
    const position = await readRows(file, from, size, (line) => addTranscriptRow(state, line));
    const mark = await readAt(file, Math.max(0, position.offset - markBytes), position.offset);
    const fromStart = isContinued ? last.fromStart : !from.isMidRow;
    return { inode, size, mtimeMs, position, mark, fromStart, state };
  } finally {
    await file.close();
  }
}

async function hasMark(file: FileHandle, { position, mark }: ReadTranscript): Promise<boolean> {
  return mark.equals(await readAt(file, position.offset - mark.length, position.offset));
}

/** One byte more than asked for: it shows whether the tail starts with a row. */
function findTail(size: number, length: number): Position {
  return size <= length ? { offset: 0, isMidRow: false } : { offset: size - length - 1, isMidRow: true };
}

/** Calls `onRow` for each complete row and returns where to continue. A half-written last row is left for the next time. */
async function readRows(
  file: FileHandle,
  from: Position,
  size: number,
  onRow: (line: string) => void,
): Promise<Position> {
  let isSkipping = from.isMidRow;
  let next = from;
  let pieces: Buffer[] = [];
  let pendingBytes = 0;
  for (let position = from.offset; position < size; ) {
    const chunk = await readAt(file, position, Math.min(size, position + limits.transcriptChunkBytes));
    if (chunk.length === 0) break;
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const fits = pendingBytes + end - start <= limits.maxTranscriptRowBytes;
      if (fits && !isSkipping) onRow(Buffer.concat([...pieces, chunk.subarray(start, end)]).toString());
      isSkipping = false;
      pieces = [];
      pendingBytes = 0;
      start = end + 1;
      next = { offset: position + start, isMidRow: false };
    }
    position += chunk.length;
    if (isSkipping) continue;
    pieces.push(chunk.subarray(start));
    pendingBytes += chunk.length - start;
    isSkipping = pendingBytes > limits.maxTranscriptRowBytes;
    if (isSkipping) pieces = [];
  }
  // If it parses, it is a complete row whose line break is missing.
  const rest = isSkipping ? "" : Buffer.concat(pieces).toString();
  if (parseRow(rest) === null) return next;
  onRow(rest);
  return { offset: next.offset + pendingBytes, isMidRow: false };
}

async function readAt(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, to - from));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
  return buffer.subarray(0, bytesRead);
}

/** Does not block on a pipe, as opening one for reading usually does. */
async function openRegular(path: string): Promise<FileHandle | null> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => null);
  if (!file) return null;
  const stats = await file.stat().catch(() => null);
  if (stats?.isFile()) return file;
  await file.close();
  return null;
}
