/**
 * Events that forwarders could not deliver because the app was down or slow. Each forwarder appends one line, and the app
 * takes the lines in order. The position is not stored here but with each event in the journal, so that one write records
 * both the event and how far the spool was read.
 */

import {
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
import { limits } from "../core/limits.ts";
import { timing } from "../core/timing.ts";
import { scheduleTogether } from "../system/schedule.ts";
import { errorCode, ignoreErrors, openOwnFile, withFile } from "./files.ts";
import { createLineTaker, type LineTakerOptions, type SpoolSession, withSpoolFile } from "./spool-lines.ts";
import { decodePosition, encodePosition, identifyFile, type SpoolPosition } from "./spool-position.ts";

export interface SpoolOptions extends LineTakerOptions {
  readonly position: SpoolPosition | null;
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
  const read = decodePosition(options.position);
  const { offsets, ahead } = read;
  const lines = createLineTaker(read, { ...options, files: [rotated, path], name: basename(path), now });
  const states = new Map<string, FileState>();
  let isStopped = false;
  let running: Promise<number> | null = null;

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
    const state = await withSpoolFile(file, onError, async (fd): Promise<FileState> => {
      const { ino, size } = fstatSync(fd);
      const id = identifyFile(fd);
      // Another program emptied the file, and it is shorter now than what was read of it.
      if ((offsets.get(id) ?? 0) > size) offsets.set(id, 0);
      const isBlocked = !(await lines.takeLines(fd, id, offsets.get(id) ?? 0));
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
    const isTaken = await withSpoolFile(file, onError, async (fd) => {
      const bytes = Buffer.alloc(Math.min(size - offset, maxLineBytes + 1));
      const length = readSync(fd, bytes, 0, bytes.length, offset);
      const text = bytes.length > maxLineBytes ? null : bytes.toString("utf8", 0, length);
      return lines.takeLine(id, { start: offset, end: size, text }, 0);
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
    lines.startPoll();
    running = readBoth()
      .catch((error: unknown) =>
        onError(`the spool could not be read (${errorCode(error)}), beckon will try again`),
      )
      .then(lines.finishPoll)
      .finally(() => {
        running = null;
        lines.endRequests();
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
    takeFirst: (session) => (running ? lines.takeFirst(session) : Promise.resolve()),
    position() {
      const last = [...offsets.keys()].at(-1) ?? [...ahead.keys()].at(-1);
      return last === undefined ? null : encodePosition(read, last, offsets.get(last) ?? 0);
    },
    async stop() {
      isStopped = true;
      lines.stop();
      cancelPoll();
      await running;
    },
  };
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
