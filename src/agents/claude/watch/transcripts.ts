/** Reads Claude Code's transcripts: only files in its own folder, only new bytes, never more than a limit in memory. */
import { constants, existsSync } from "node:fs";
import { type FileHandle, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { asText, type JsonRecord } from "../../../core/json.ts";
import { limits } from "../../../core/limits.ts";
import type { ChildEnrichment, Enrichment } from "../../../core/session/event.ts";
import type { Env } from "../../../system/folders.ts";
import type { ReportedHook } from "../../agent.ts";
import { findInsideFolders, openRegular } from "../../watch/index.ts";
import { isReportingRow, listReportedHooks } from "../reported-hooks.ts";
import { claudeFolder } from "../setup/folder.ts";
import {
  addTranscriptRow,
  createTranscriptState,
  findLastResponse,
  isRelevantRow,
  parseRow,
  summarizeTranscript,
  type TranscriptFacts,
  type TranscriptKind,
  type TranscriptState,
  truncateResponse,
} from "../transcript.ts";
import { createUsageBook, sumUsage, type TranscriptOwner, type UsageBook } from "../usage.ts";

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
      await readRows(file, tail, { end: size, size }, (row) => lines.push(row.toString()));
      const { text, isWhole } = findLastResponse(lines);
      if (isWhole || !tail.isMidRow || length >= limits.maxTranscriptTailBytes)
        return truncateResponse(text, maxLength);
    }
  } finally {
    await file.close();
  }
}

/** What the hooks of a run reported, as far as the end of its transcript says. */
export async function readReportedHooks(end: JsonRecord, env: Env): Promise<readonly ReportedHook[]> {
  const path = await findTranscript(asText(end.transcript_path), env);
  const file = path === null ? null : await openRegular(path);
  if (!file) return [];
  try {
    const { size } = await file.stat();
    const lines: string[] = [];
    const tail = findTail(size, limits.transcriptSliceBytes);
    await readRows(file, tail, { end: size, size }, (row) => {
      if (lines.length === 0 || isReportingRow(row)) lines.push(row.toString());
    });
    return listReportedHooks(lines, end, !tail.isMidRow);
  } finally {
    await file.close();
  }
}

/** What a session's transcripts say. */
export interface SessionFacts extends Enrichment {
  readonly interruptedAt: number | null;
  /** Not everything has been read yet: usage and turns are unknown, and the next read continues. */
  readonly isBehind: boolean;
}

export interface TranscriptReader {
  /**
   * What the transcripts of a session and its subagents say now. null if there is no such file. One call reads at most a slice
   * of each file, however long they are.
   */
  read(path: string): Promise<SessionFacts | null>;
  forget(path: string): void;
}

interface FollowedSession {
  main: ReadTranscript | null;
  /** By path. */
  readonly subagents: Map<string, ReadTranscript>;
  /** What the end of a transcript says that has not been read to its end yet. */
  tail: { readonly size: number; readonly facts: TranscriptFacts } | null;
}

export function createTranscriptReader(): TranscriptReader {
  const book = createUsageBook();
  const sessions = new Map<string, FollowedSession>();
  /** One after another: two reads at once would add the same rows twice, and keep other work waiting for longer. */
  let queue: Promise<unknown> = Promise.resolve();

  function drop(path: string): void {
    const session = sessions.get(path);
    if (!session) return;
    sessions.delete(path);
    for (const { state } of [session.main, ...session.subagents.values()].filter((file) => file !== null))
      book.forget(state.ledger);
  }

  function follow(path: string): FollowedSession {
    const session = sessions.get(path) ?? { main: null, subagents: new Map(), tail: null };
    sessions.delete(path);
    sessions.set(path, session);
    const [oldest] = sessions.keys();
    if (oldest !== undefined && sessions.size > limits.maxTranscriptsFollowed) drop(oldest);
    return session;
  }

  async function readSession(path: string): Promise<SessionFacts | null> {
    const session = follow(path);
    const owner = findOwner(path);
    session.main = await readSlice(path, session.main, book, { ...owner, isSubagent: false });
    if (!session.main) {
      drop(path);
      return null;
    }
    let isBehind = !session.main.isAtEnd;
    for (const file of await listSubagentTranscripts(path)) {
      const before = session.subagents.get(file) ?? null;
      const after = await readSlice(file, before, book, { ...owner, isSubagent: true });
      if (after) session.subagents.set(file, after);
      if (after && !after.isAtEnd) isBehind = true;
    }
    return summarize(path, session, session.main, isBehind);
  }

  async function summarize(
    path: string,
    session: FollowedSession,
    main: ReadTranscript,
    isBehind: boolean,
  ): Promise<SessionFacts> {
    const children = [...session.subagents].map(([file, { state }]) => describeSubagent(file, state));
    if (main.isAtEnd) session.tail = null;
    else if (session.tail?.size !== main.size)
      session.tail = { size: main.size, facts: await readTailFacts(path, main) };
    const facts = session.tail?.facts ?? summarizeTranscript(main.state);
    const ledgers = [main, ...session.subagents.values()].map(({ state }) => state.ledger);
    return {
      ...facts,
      // A transcript without a prompt is not written yet: the hooks know better.
      turnCount: (main.isAtEnd && facts.turnCount) || null,
      usage: isBehind ? null : sumUsage(ledgers),
      ...(children.length > 0 ? { children } : {}),
      isBehind,
    };
  }

  return {
    read(path) {
      const reading = queue.then(() => readSession(path));
      queue = reading.catch(() => null);
      return reading;
    },
    forget: drop,
  };
}

function findOwner(path: string): TranscriptOwner {
  const others = new Map<string, boolean>();
  return {
    sessionId: basename(path, ".jsonl"),
    hasTranscript(sessionId) {
      const isKnown = others.get(sessionId) ?? existsBeside(path, sessionId);
      if (others.size < limits.maxHookItems) others.set(sessionId, isKnown);
      return isKnown;
    },
  };
}

function existsBeside(path: string, sessionId: string): boolean {
  return /^[\w-]+$/.test(sessionId) && existsSync(join(dirname(path), `${sessionId}.jsonl`));
}

function describeSubagent(path: string, state: TranscriptState): ChildEnrichment {
  return {
    agentId: basename(path, ".jsonl").replace(/^agent-/, ""),
    model: state.model,
    usage: sumUsage([state.ledger]),
    context: state.context,
    transcriptPath: path,
  };
}

/** The subagents' transcripts are in a folder beside the session's. A link to another place is not followed. */
async function listSubagentTranscripts(path: string): Promise<string[]> {
  const folder = join(dirname(path), basename(path, ".jsonl"), "subagents");
  const names = await readdir(folder).catch(() => []);
  if (names.length === 0 || (await realpath(folder).catch(() => null)) !== folder) return [];
  return names
    .filter((name) => /^agent-.+\.jsonl$/.test(name))
    .slice(0, limits.maxSubagentTranscripts)
    .map((name) => join(folder, name));
}

/** null if `path` is not one of Claude Code's transcripts. */
export const findTranscript = (path: string, env: Env): Promise<string | null> =>
  findInsideFolders(path, [join(claudeFolder(env), "projects")]);

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
  /** Everything that was in the file has been read. */
  readonly isAtEnd: boolean;
  readonly state: TranscriptState;
}

const markBytes = 64;

/** Reads on from where the last read ended, at most one slice. */
async function readSlice(
  path: string,
  last: ReadTranscript | null,
  book: UsageBook,
  kind: TranscriptKind,
): Promise<ReadTranscript | null> {
  const file = await openRegular(path, constants.O_NOFOLLOW ?? 0);
  if (!file) return null;
  try {
    const { ino: inode, size, mtimeMs } = await file.stat();
    const isUnchanged = last?.inode === inode && last.size === size && last.mtimeMs === mtimeMs;
    if (last && isUnchanged && last.isAtEnd) return last;
    const isContinued = last && last.inode === inode && (await hasMark(file, last));
    if (last && !isContinued) book.forget(last.state.ledger);
    const from = isContinued ? last.position : { offset: 0, isMidRow: false };
    const state = isContinued ? last.state : createTranscriptState(book, kind);
    const end = Math.min(size, from.offset + limits.transcriptSliceBytes);
    const { position, isAtEnd } = await readRows(file, from, { end, size }, (row) => {
      if (isRelevantRow(row)) addTranscriptRow(state, row.toString());
    });
    const mark = await readAt(file, Math.max(0, position.offset - markBytes), position.offset);
    return { inode, size, mtimeMs, position, mark, isAtEnd, state };
  } finally {
    await file.close();
  }
}

/** What the last slice says. Its usage is not counted: the slices before it are counted first. */
async function readTailFacts(path: string, main: ReadTranscript): Promise<TranscriptFacts> {
  const state = createTranscriptState(createUsageBook(), { ...findOwner(path), isSubagent: false });
  const file = await openRegular(path);
  if (!file) return summarizeTranscript(state);
  try {
    const { size } = main;
    await readRows(file, findTail(size, limits.transcriptSliceBytes), { end: size, size }, (row) => {
      if (isRelevantRow(row)) addTranscriptRow(state, row.toString());
    });
    return summarizeTranscript(state);
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

/**
 * Calls `onRow` for each complete row, which is valid during the call, and returns where to continue. Reads to `end`, and on to the end of a row that has begun
 * there. A half-written last row is left for the next time.
 */
async function readRows(
  file: FileHandle,
  from: Position,
  { end, size }: { readonly end: number; readonly size: number },
  onRow: (row: Buffer) => void,
): Promise<{ readonly position: Position; readonly isAtEnd: boolean }> {
  let isSkipping = from.isMidRow;
  let next = from;
  let pieces: Buffer[] = [];
  let pendingBytes = 0;
  let offset = from.offset;
  // One buffer for all chunks: a long transcript would fill the memory with used ones faster than it is cleaned.
  const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(limits.transcriptChunkBytes, size - offset)));
  while (offset < end || (offset < size && pendingBytes > 0)) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - offset), offset);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    let start = 0;
    for (let stop = chunk.indexOf(10); stop >= 0; stop = chunk.indexOf(10, start)) {
      const fits = pendingBytes + stop - start <= limits.maxTranscriptRowBytes;
      const piece = chunk.subarray(start, stop);
      if (fits && !isSkipping) onRow(pieces.length === 0 ? piece : Buffer.concat([...pieces, piece]));
      isSkipping = false;
      pieces = [];
      pendingBytes = 0;
      start = stop + 1;
      next = { offset: offset + start, isMidRow: false };
      if (next.offset >= end && next.offset < size) return { position: next, isAtEnd: false };
    }
    offset += chunk.length;
    if (isSkipping) continue;
    pieces.push(Buffer.from(chunk.subarray(start)));
    pendingBytes += chunk.length - start;
    isSkipping = pendingBytes > limits.maxTranscriptRowBytes;
    if (isSkipping) {
      pieces = [];
      pendingBytes = 0;
    }
  }
  const isAtEnd = offset >= size;
  if (isSkipping) return { position: { offset, isMidRow: true }, isAtEnd };
  // If it parses, it is a complete row whose line break is missing.
  const rest = Buffer.concat(pieces);
  if (!isAtEnd || parseRow(rest.toString()) === null) return { position: next, isAtEnd };
  onRow(rest);
  return { position: { offset, isMidRow: false }, isAtEnd };
}

async function readAt(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, to - from));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
  return buffer.subarray(0, bytesRead);
}
