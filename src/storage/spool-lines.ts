/** Takes the lines of the spool's files in order, and those of a session ahead of the others if its hook waits. */
import { closeSync, constants } from "node:fs";
import { isJson } from "../core/json.ts";
import { errorCode, openOrClearOwnFile } from "./files.ts";
import { type FileLine, readLinesAndChunks } from "./read-lines.ts";
import { encodePosition, identifyFile, type ReadOffsets, type SpoolPosition } from "./spool-position.ts";

/** The session that an event belongs to. */
export interface SpoolSession {
  readonly key: string;
  /** A text that every line of the session contains. */
  readonly mark: string;
}

export interface LineTakerOptions {
  /** Stores one event together with the position after it. "retry" if it cannot be stored now. */
  readonly accept: (text: string, next: SpoolPosition) => Promise<"accepted" | "rejected" | "retry">;
  readonly onError: (text: string) => void;
  /** null if the text names no session. */
  readonly findSession?: (text: string) => SpoolSession | null;
  readonly maxLineBytes: number;
}

export interface LineTaker {
  startPoll(): void;
  /** Takes the lines from there on. Returns false if one has to be read again later. */
  takeLines(fd: number, id: string, from: number): Promise<boolean>;
  /** Returns false if the line has to be read again later. */
  takeLine(id: string, line: FileLine, newlineBytes: number): Promise<boolean>;
  /** Takes the unread lines of this session next. Resolves when they are taken, or with `endRequests`. */
  takeFirst(session: SpoolSession): Promise<void>;
  endRequests(): void;
  /** Reports how many more lines were damaged. Returns how many events were accepted since `startPoll`. */
  finishPoll(): number;
  stop(): void;
}

/** Each position has all of them. With more sessions, the rest waits until the spool is read. */
const maxSessionsAhead = 64;

/** The app answers requests between slices. Without them, a spool of a million damaged lines kept it from answering for 17 s. */
const maxSliceMs = 10;
/** Damaged lines that one poll reports one by one. The others are counted. */
const maxReported = 10;

const hashSession = ({ key }: SpoolSession): string => Bun.hash(key).toString(36);

export function createLineTaker(
  read: ReadOffsets,
  options: LineTakerOptions & {
    /** The files of the spool, oldest first. */
    readonly files: readonly string[];
    /** For messages. */
    readonly name: string;
    readonly now: () => number;
  },
): LineTaker {
  const { onError, maxLineBytes, name, now } = options;
  const { offsets, ahead } = read;
  const requests: { readonly session: SpoolSession; readonly resolve: () => void }[] = [];
  let accepted = 0;
  let damagedLines = 0;
  let sliceStart = now();
  let isStopped = false;

  /** Call it for each line and chunk. Most calls return null, so that lines cost no turn of the event loop. */
  function pauseIfDue(): Promise<void> | null {
    if (now() - sliceStart < maxSliceMs) return null;
    return new Promise((resolve) => setImmediate(resolve)).then(() => {
      sliceStart = now();
    });
  }

  /** Returns false if the event has to be offered again. */
  async function accept(text: string, next: SpoolPosition): Promise<boolean> {
    const result = await options.accept(text, next).catch((error: unknown) => {
      onError(`a spooled event could not be stored (${errorCode(error)}), beckon will try again`);
      return "retry" as const;
    });
    if (result === "accepted") accepted++;
    return result !== "retry";
  }

  async function offer(text: string, id: string, end: number): Promise<boolean> {
    if (!(await accept(text, encodePosition(read, id, end)))) return false;
    offsets.set(id, end);
    return true;
  }

  async function takeLine(
    id: string,
    { start, end, text }: FileLine,
    newlineBytes: number,
  ): Promise<boolean> {
    const line = text?.trimEnd() ?? "";
    const pieces = line === "" ? [] : splitGluedLines(line);
    // Bytes that are not UTF-8 were replaced, and then an offset inside the line is unknown.
    const isExact = text !== null && start + Buffer.byteLength(text) + newlineBytes === end;
    for (const piece of pieces) {
      const pieceEnd = isExact ? start + Buffer.byteLength(line.slice(0, piece.end)) : start;
      if (!(await offer(piece.text, id, piece === pieces.at(-1) ? end : pieceEnd))) return false;
    }
    if (text === null || (line !== "" && pieces[0]?.text !== line)) {
      const reason = text === null ? "is too long" : "is damaged";
      const outcome = pieces.length > 0 ? `complete events taken from it: ${pieces.length}` : "skipped";
      if (++damagedLines <= maxReported)
        onError(`${name}: the line at byte ${start} ${reason} (${end - start} bytes), ${outcome}`);
    }
    offsets.set(id, end);
    return true;
  }

  async function takeLines(fd: number, id: string, from: number): Promise<boolean> {
    for (const line of readLinesAndChunks(fd, from, maxLineBytes)) {
      const pause = pauseIfDue();
      if (pause) await pause;
      while (requests.length > 0 && countAhead() < maxSessionsAhead) await serveRequest();
      if (isStopped) return false;
      if (line === null) continue;
      if (isTakenAhead(id, line)) offsets.set(id, line.end);
      else if (!(await takeLine(id, line, 1))) return false;
    }
    return true;
  }

  const countAhead = (): number => [...ahead.values()].reduce((sum, { size }) => sum + size, 0);

  function isTakenAhead(id: string, { text, end }: FileLine): boolean {
    const sessions = ahead.get(id);
    if (!sessions || text === null) return false;
    const session = options.findSession?.(text.trimEnd());
    return session ? (sessions.get(hashSession(session)) ?? 0) >= end : false;
  }

  async function serveRequest(): Promise<void> {
    const request = requests.shift();
    if (!request) return;
    for (const file of options.files) await takeAhead(file, request.session);
    request.resolve();
  }

  /** Reads the rest of the file for one session. The position keeps both its offset and the offset of all the others. */
  async function takeAhead(file: string, session: SpoolSession): Promise<void> {
    const hash = hashSession(session);
    await withSpoolFile(file, onError, async (fd) => {
      const id = identifyFile(fd);
      const sessions = ahead.get(id) ?? new Map<string, number>();
      const from = Math.max(offsets.get(id) ?? 0, sessions.get(hash) ?? 0);
      for (const found of readLinesAndChunks(fd, from, maxLineBytes)) {
        const pause = pauseIfDue();
        if (pause) await pause;
        if (found === null) continue;
        const { text, end } = found;
        const line = text?.includes(session.mark) ? text.trimEnd() : "";
        if (line === "" || options.findSession?.(line)?.key !== session.key) continue;
        const next = new Map(ahead).set(id, new Map(sessions).set(hash, end));
        if (
          isStopped ||
          !(await accept(line, encodePosition({ offsets, ahead: next }, id, offsets.get(id) ?? 0)))
        )
          return;
        sessions.set(hash, end);
        ahead.set(id, sessions);
      }
    });
  }

  return {
    startPoll() {
      accepted = 0;
      damagedLines = 0;
      sliceStart = now();
    },
    takeLines,
    takeLine,
    takeFirst: (session) => new Promise((resolve) => requests.push({ session, resolve })),
    endRequests() {
      for (const { resolve } of requests.splice(0)) resolve();
    },
    finishPoll() {
      const more = damagedLines - maxReported;
      if (more > 0) onError(`${name}: ${more} more lines are damaged or too long`);
      return accepted;
    },
    stop() {
      isStopped = true;
    },
  };
}

/** null if there is no such file. */
export async function withSpoolFile<T>(
  file: string,
  onError: (text: string) => void,
  use: (fd: number) => Promise<T>,
): Promise<T | null> {
  let fd: number;
  try {
    fd = openOrClearOwnFile(file, constants.O_RDONLY, onError);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
  return use(fd).finally(() => closeSync(fd));
}

/** The forwarders write this at the start of each line. */
const lineStart = '{"provider"';
const maxSplits = 64;

export interface SpoolPiece {
  readonly text: string;
  /** The number of characters of the line up to the end of this piece. */
  readonly end: number;
}

/**
 * The complete events in a line, in order. A writer that was killed leaves an incomplete line, and the next writer's line
 * continues it. An undamaged line has one piece, one without a complete event has none.
 */
export function splitGluedLines(line: string): SpoolPiece[] {
  if (isJson(line)) return [{ text: line, end: line.length }];
  const pieces: SpoolPiece[] = [];
  let end = line.length;
  let start = line.lastIndexOf(lineStart);
  for (let splits = 0; start > 0 && splits < maxSplits; splits++) {
    const text = line.slice(start, end);
    if (isJson(text)) {
      pieces.unshift({ text, end });
      end = start;
    }
    start = line.lastIndexOf(lineStart, start - 1);
  }
  const first = line.slice(0, end);
  if (pieces.length > 0 && isJson(first)) pieces.unshift({ text: first, end });
  return pieces;
}
