/**
 * Events that forwarders could not deliver because the app was down or slow. Each forwarder appends one line, and the app
 * takes the lines in order. The position is not stored here but with each event in the journal, so that one write records
 * both the event and how far the spool was read.
 */

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  readSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename } from "node:path";
import type { Schedule } from "../core/interfaces/index.ts";
import { isJson } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { timing } from "../core/timing.ts";
import { scheduleTogether } from "../system/schedule.ts";
import { errorCode, ignoreErrors, openOrClearOwnFile, openOwnFile, withFile } from "./files.ts";
import { type FileLine, readLinesAndChunks } from "./read-lines.ts";

/**
 * Opaque to callers: the id of the file and, after spaces, `id@offset` of the other file and `+session@id@offset` of sessions
 * that were taken ahead of the others; then the offset in the first file.
 */
export type SpoolPosition = readonly [string, number];

/** The session that an event belongs to. */
export interface SpoolSession {
  readonly key: string;
  /** A text that every line of the session contains. */
  readonly mark: string;
}

export interface SpoolOptions {
  /** Stores one event together with the position after it. "retry" if it cannot be stored now. */
  readonly accept: (text: string, next: SpoolPosition) => Promise<"accepted" | "rejected" | "retry">;
  readonly onError: (text: string) => void;
  /** null if the text names no session. */
  readonly findSession?: (text: string) => SpoolSession | null;
  readonly position: SpoolPosition | null;
  readonly maxLineBytes: number;
  readonly pollMs?: number;
  /** A forwarder opens the file, writes once and closes it within 2 s: a file unchanged for this long has no writer. */
  readonly quietMs?: number;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
  readonly schedule?: Schedule;
}

export interface Spool {
  /** Reads new lines. Returns how many events were accepted. */
  poll(): Promise<number>;
  /**
   * Takes the unread events of this session before all others. Resolves when they are taken, or the poll that is running ends;
   * at once if none is running.
   */
  takeFirst(session: SpoolSession): Promise<void>;
  position(): SpoolPosition | null;
  stop(): Promise<void>;
}

/** By file id, in the order in which the files were read: everything before the offset was read. */
type Offsets = Map<string, number>;
/** By file id and the hash of a session's key: the session's lines before the offset were taken ahead. */
type AheadOffsets = Map<string, Map<string, number>>;

/** Each position has all of them. With more sessions, the rest waits until the spool is read. */
const maxSessionsAhead = 64;

/** The app answers requests between slices. Without them, a spool of a million damaged lines kept it from answering for 17 s. */
const maxSliceMs = 10;
/** Damaged lines that one poll reports one by one. The others are counted. */
const maxReported = 10;

const hashSession = ({ key }: SpoolSession): string => Bun.hash(key).toString(36);

/** What is known about a spool file after it was read. */
interface FileState {
  readonly id: string;
  readonly ino: number;
  readonly size: number;
  readonly unchangedSince: number;
  /** Everything before this offset was read. */
  readonly offset: number;
  /** An event in it has to be offered again. */
  readonly isBlocked: boolean;
}

/** The spool is renamed before it is removed: a writer that has it open may still append to it. */
export const rotatedPath = (path: string): string => `${path}.taking`;

export function openSpool(path: string, options: SpoolOptions): Spool {
  const { onError, maxLineBytes, pollMs = timing.spoolPollMs, quietMs = 5_000 } = options;
  const { now = () => performance.now(), schedule = scheduleTogether } = options;
  const rotated = rotatedPath(path);
  const name = basename(path);
  const { offsets, ahead } = decodePosition(options.position);
  const requests: { readonly session: SpoolSession; readonly resolve: () => void }[] = [];
  const states = new Map<string, FileState>();
  let accepted = 0;
  let isStopped = false;
  let running: Promise<number> | null = null;
  let sliceStart = now();
  let damagedLines = 0;

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
    if (!(await accept(text, encodePosition(offsets, ahead, id, end)))) return false;
    offsets.set(id, end);
    return true;
  }

  /** Returns false if the line has to be read again later. */
  async function takeLine(id: string, { start, end, text }: FileLine, newlineBytes = 1): Promise<boolean> {
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
      else if (!(await takeLine(id, line))) return false;
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
    for (const file of [rotated, path]) await takeAhead(file, request.session);
    request.resolve();
  }

  /** Reads the rest of the file for one session. The position keeps both its offset and the offset of all the others. */
  async function takeAhead(file: string, session: SpoolSession): Promise<void> {
    const hash = hashSession(session);
    await withSpoolFile(file, async (fd) => {
      const id = identifyFile(fd);
      const sessions = ahead.get(id) ?? new Map<string, number>();
      const from = Math.max(offsets.get(id) ?? 0, sessions.get(hash) ?? 0);
      for (const read of readLinesAndChunks(fd, from, maxLineBytes)) {
        const pause = pauseIfDue();
        if (pause) await pause;
        if (read === null) continue;
        const { text, end } = read;
        const line = text?.includes(session.mark) ? text.trimEnd() : "";
        if (line === "" || options.findSession?.(line)?.key !== session.key) continue;
        const next = new Map(ahead).set(id, new Map(sessions).set(hash, end));
        if (isStopped || !(await accept(line, encodePosition(offsets, next, id, offsets.get(id) ?? 0))))
          return;
        sessions.set(hash, end);
        ahead.set(id, sessions);
      }
    });
  }

  /** null if there is no such file. */
  async function withSpoolFile<T>(file: string, use: (fd: number) => Promise<T>): Promise<T | null> {
    let fd: number;
    try {
      fd = openOrClearOwnFile(file, constants.O_RDONLY, onError);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return null;
      throw error;
    }
    return use(fd).finally(() => closeSync(fd));
  }

  /** Reads the new lines of one file. null if there is no such file. */
  async function readFile(file: string): Promise<FileState | null> {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (!stats) {
      states.delete(file);
      return null;
    }
    const before = states.get(file);
    const isUnchanged = before?.ino === stats.ino && before.size === stats.size;
    if (isUnchanged && !before.isBlocked) return before;
    const state = await withSpoolFile(file, async (fd): Promise<FileState> => {
      const { ino, size } = fstatSync(fd);
      const id = identifyFile(fd);
      // Another program emptied the file, and it is shorter now than what was read of it.
      if ((offsets.get(id) ?? 0) > size) offsets.set(id, 0);
      const isBlocked = !(await takeLines(fd, id, offsets.get(id) ?? 0));
      const unchangedSince = isUnchanged ? before.unchangedSince : now();
      return { id, ino, size, unchangedSince, offset: offsets.get(id) ?? 0, isBlocked };
    });
    if (state) states.set(file, state);
    else states.delete(file);
    return state;
  }

  const isQuiet = ({ unchangedSince }: FileState) => now() - unchangedSince >= quietMs;

  /** For a file without a writer: a last line without a newline will not be completed any more. */
  async function removeFile(file: string, state: FileState): Promise<void> {
    if (state.offset < state.size && !(await takeLastLine(file, state))) return;
    rmSync(file);
    states.delete(file);
    offsets.delete(state.id);
    ahead.delete(state.id);
  }

  async function takeLastLine(file: string, { id, offset, size }: FileState): Promise<boolean> {
    const isTaken = await withSpoolFile(file, async (fd) => {
      const bytes = Buffer.alloc(Math.min(size - offset, maxLineBytes + 1));
      const read = readSync(fd, bytes, 0, bytes.length, offset);
      const text = bytes.length > maxLineBytes ? null : bytes.toString("utf8", 0, read);
      return takeLine(id, { start: offset, end: size, text }, 0);
    });
    return isTaken ?? true;
  }

  async function readBoth(): Promise<void> {
    const older = await readFile(rotated);
    if (older?.isBlocked) return;
    const current = await readFile(path);
    if (current?.isBlocked) return;
    for (const known of [offsets, ahead]) {
      for (const id of known.keys()) if (id !== older?.id && id !== current?.id) known.delete(id);
    }
    if (older) {
      if (isQuiet(older)) await removeFile(rotated, older);
    } else if (current && current.size > 0 && (current.offset >= current.size || isQuiet(current))) {
      // A writer that has the file open appends to the renamed one. The next writer creates a new file.
      renameSync(path, rotated);
      states.delete(path);
      states.set(rotated, { ...current, unchangedSince: now() });
    }
  }

  function poll(): Promise<number> {
    if (isStopped) return Promise.resolve(0);
    if (running) return running;
    accepted = 0;
    damagedLines = 0;
    sliceStart = now();
    running = readBoth()
      .catch((error: unknown) =>
        onError(`the spool could not be read (${errorCode(error)}), beckon will try again`),
      )
      .then(() => {
        const more = damagedLines - maxReported;
        if (more > 0) onError(`${name}: ${more} more lines are damaged or too long`);
        return accepted;
      })
      .finally(() => {
        running = null;
        for (const { resolve } of requests.splice(0)) resolve();
      });
    return running;
  }

  function pollLater(): () => void {
    return schedule(() => {
      cancelPoll = pollLater();
      void poll();
    }, pollMs);
  }

  let cancelPoll = pollLater();
  return {
    poll,
    takeFirst(session) {
      if (!running) return Promise.resolve();
      return new Promise((resolve) => requests.push({ session, resolve }));
    },
    position() {
      const last = [...offsets.keys()].at(-1) ?? [...ahead.keys()].at(-1);
      return last === undefined ? null : encodePosition(offsets, ahead, last, offsets.get(last) ?? 0);
    },
    async stop() {
      isStopped = true;
      cancelPoll();
      await running;
    },
  };
}

function encodePosition(offsets: Offsets, ahead: AheadOffsets, id: string, end: number): SpoolPosition {
  const others = [...offsets]
    .filter(([other]) => other !== id)
    .map(([other, offset]) => `${other}@${offset}`);
  const sessions = [...ahead].flatMap(([file, taken]) =>
    [...taken].map(([session, offset]) => `+${session}@${file}@${offset}`),
  );
  return [[id, ...others, ...sessions].join(" "), end];
}

/** The position comes from a file: if it is not valid, everything is read again, and known events are ignored by their id. */
function decodePosition(position: SpoolPosition | null): { offsets: Offsets; ahead: AheadOffsets } {
  const offsets: Offsets = new Map();
  const ahead: AheadOffsets = new Map();
  if (!Array.isArray(position) || typeof position[0] !== "string" || !Number.isSafeInteger(position[1]))
    return { offsets, ahead };
  const [id = "", ...others] = position[0].split(" ");
  for (const other of others) {
    const [first = "", second = "", third] = other.split("@");
    if (!first.startsWith("+")) offsets.set(first, Number(second) || 0);
    else ahead.set(second, (ahead.get(second) ?? new Map()).set(first.slice(1), Number(third) || 0));
  }
  offsets.set(id, position[1]);
  return { offsets, ahead };
}

const identityBytes = 4_096;

/** Inode, birth time and a hash of the first line, which never changes once complete: an inode number can be reused. */
function identifyFile(fd: number): string {
  const { ino, birthtimeMs } = fstatSync(fd);
  const bytes = Buffer.alloc(identityBytes);
  const read = bytes.subarray(0, readSync(fd, bytes, 0, identityBytes, 0));
  const newline = read.indexOf(10);
  const firstLine = newline < 0 ? read : read.subarray(0, newline);
  const digest = Bun.CryptoHasher.hash("sha256", firstLine, "hex").slice(0, 16);
  return `${ino}.${Math.floor(birthtimeMs)}.${digest}`;
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

/**
 * Removes the test event that `beckon doctor` left as the last line, if the file was `length` bytes long before it and nothing
 * else was added since. Call it only while no app reads the spool.
 */
export function removeLastSpoolLine(path: string, length: number, mark: string): void {
  const rotated = rotatedPath(path);
  ignoreErrors(() => {
    const isEmpty = cutLastLine(path, length, mark) && length === 0;
    if (isEmpty && !existsSync(rotated)) renameSync(path, rotated);
  });
}

function cutLastLine(path: string, length: number, mark: string): boolean {
  return withFile(openOwnFile(path, constants.O_RDWR), (fd) => {
    const { size } = fstatSync(fd);
    if (size <= length || size - length > limits.maxSmallFileBytes) return false;
    const added = Buffer.alloc(size - length);
    const read = readSync(fd, added, 0, added.length, length);
    const text = added.toString("utf8", 0, read);
    const isOneLine = text.indexOf("\n") === text.length - 1;
    if (!isOneLine || !text.includes(mark) || fstatSync(fd).size !== size) return false;
    ftruncateSync(fd, length);
    return true;
  });
}
