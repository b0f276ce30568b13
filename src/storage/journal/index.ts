/**
 * The journal: every event that beckon accepted, in order, one JSON line each, in numbered files (segments). An event is here
 * before it is acknowledged. So the snapshot and the lines after it give the state, and kill -9 loses nothing.
 */
import { closeSync, fstatSync, ftruncateSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../core/limits.ts";
import { dayMs } from "../../core/timing.ts";
import { errorCode, ignoreErrors, UnsafeFileError } from "../files.ts";
import {
  type JournalLine,
  type JournalPosition,
  type ReplayResult,
  readJournalEnd,
  readRecentIds,
  replaySegments,
} from "./read.ts";
import {
  createSegment,
  listForeignEntries,
  listSegments,
  nextSegmentName,
  reopenSegment,
  type Segment,
} from "./segments.ts";

export type { JournalLine, JournalPosition };

export interface JournalEntry extends Omit<JournalLine, "body"> {
  /** The JSON text of the body. */
  readonly text: string;
}

export interface JournalOptions {
  readonly retentionDays: () => number;
  readonly onError: (text: string) => void;
  /** If the journal is larger, the oldest segments are removed early. */
  readonly maxBytes?: number;
  readonly now?: () => number;
}

export interface Journal {
  /** Resolves once the entry is written. Entries that arrive in the same tick share one write and one promise. */
  append(entry: JournalEntry): Promise<void>;
  /** Everything before it is in the journal. */
  position(): JournalPosition;
  /** Call it before the first append, which must not reuse a position that the snapshot knows. */
  replay(after: JournalPosition | null, onLine: (line: JournalLine) => void): ReplayResult;
  /** The ids of the last `max` lines, oldest first. */
  recentIds(max: number): string[];
  /** Removes old segments. Call it once a snapshot contains everything before `covered`. */
  rotate(covered: JournalPosition): void;
  close(): void;
}

/** The event is not in the journal and must not be acknowledged. */
export class JournalError extends Error {
  readonly code: string;
  constructor(cause: unknown) {
    const code = errorCode(cause);
    const isFull = code === "ENOSPC" || code === "EDQUOT";
    const advice = isFull ? "Free some disk space." : "Is the state folder writable?";
    super(
      `the journal could not be written${cause instanceof UnsafeFileError ? `: ${cause.message}` : ` (${code}). ${advice}`}`,
      { cause },
    );
    this.name = "JournalError";
    this.code = code;
  }
}

/** How often to check that no other program has changed the newest segment. */
const checkMs = 20;
/** Lines are collected in one buffer until they are written: a new buffer for each write was half the journal's cost. */
const bufferBytes = 256 * 1024;

/** The entries of one write. */
interface Batch {
  readonly bytes: Buffer;
  length: number;
  readonly written: PromiseWithResolvers<void>;
}

export function openJournal(dir: string, options: JournalOptions): Journal {
  const { onError, maxBytes = limits.maxJournalBytes, now = Date.now } = options;
  let current: Segment | null = null;
  /** A new segment sorts after this one: a snapshot may know positions in it, though the file is gone or shorter now. */
  let lastUsedName: string | null = null;
  let buffer: Buffer | null = null;
  let batch: Batch | null = null;
  let checkedAt = 0;

  function openSegment(): Segment {
    const newest = listSegments(dir).at(-1) ?? "";
    if (newest > (lastUsedName ?? "")) {
      try {
        return reopenSegment(dir, newest);
      } catch (error) {
        onError(`journal ${newest} cannot be written (${errorCode(error)}): starting a new file`);
        lastUsedName = newest;
      }
    }
    const foreign = listForeignEntries(dir);
    let name = nextSegmentName(lastUsedName ?? newest);
    while (foreign.includes(name)) name = nextSegmentName(name);
    return createSegment(dir, name, now());
  }

  /** The next append starts another segment. */
  function leaveSegment(segment: Segment): void {
    ignoreErrors(() => closeSync(segment.fd));
    lastUsedName = segment.name;
    current = null;
  }

  function checkSegment(segment: Segment): void {
    const started = performance.now();
    if (started - checkedAt < checkMs) return;
    checkedAt = started;
    const { nlink, size } = fstatSync(segment.fd);
    if (nlink > 0 && size === segment.length) return;
    const change = nlink > 0 ? "changed" : "deleted";
    onError(`journal ${segment.name} was ${change} by another program: starting a new file`);
    leaveSegment(segment);
  }

  function write(bytes: Buffer): void {
    if (current) checkSegment(current);
    current ??= openSegment();
    const segment = current;
    try {
      for (let done = 0; done < bytes.length; ) {
        const written = writeSync(segment.fd, bytes, done);
        if (written === 0) throw new Error("nothing was written");
        done += written;
      }
    } catch (error) {
      try {
        ftruncateSync(segment.fd, segment.length);
      } catch {
        leaveSegment(segment);
      }
      throw error;
    }
    segment.length += bytes.length;
  }

  /** A batch with room for this many more bytes. */
  function findBatch(roomBytes: number): Batch {
    if (batch && batch.length + roomBytes > batch.bytes.length) flush();
    if (batch) return batch;
    buffer ??= Buffer.allocUnsafeSlow(bufferBytes);
    const bytes = roomBytes > bufferBytes ? Buffer.allocUnsafeSlow(roomBytes) : buffer;
    batch = { bytes, length: 0, written: Promise.withResolvers() };
    setImmediate(flush);
    return batch;
  }

  function flush(): void {
    const full = batch;
    batch = null;
    if (!full) return;
    try {
      write(full.bytes.subarray(0, full.length));
      full.written.resolve();
    } catch (error) {
      full.written.reject(new JournalError(error));
    }
  }

  function startNewSegmentIfDue(): void {
    if (!current || current.length === 0) return;
    const isOld = now() - current.startedAt > Math.min(1, options.retentionDays()) * dayMs;
    if (current.length <= limits.maxSegmentBytes && !isOld) return;
    leaveSegment(current);
    current = openSegment();
  }

  function removeOldSegments(covered: JournalPosition): void {
    const oldestAt = now() - options.retentionDays() * dayMs;
    let totalBytes = 0;
    let isNewest = true;
    for (const name of listSegments(dir).reverse()) {
      const { size, mtimeMs } = statSync(join(dir, name));
      totalBytes += size;
      const isCovered = name < covered.segment || (name === covered.segment && size <= covered.offset);
      if (name === current?.name || !isCovered) continue;
      // The newest stays, so that recentIds has something to read.
      if (!isNewest && (mtimeMs < oldestAt || totalBytes > maxBytes)) rmSync(join(dir, name));
      isNewest = false;
    }
  }

  return {
    append(entry) {
      const head = stringifyHead(entry);
      const body = removeLineBreaks(entry.text);
      // A character takes three bytes at most.
      const roomBytes = (head.length + body.length) * 3 + bodyName.length + 2;
      const target = findBatch(roomBytes);
      target.length = writeLine(target.bytes, target.length, head, body);
      return target.written.promise;
    },
    position() {
      if (current) return { segment: current.name, offset: current.length };
      const end = readJournalEnd(dir);
      if (end && end.segment > (lastUsedName ?? "")) return end;
      return { segment: nextSegmentName(lastUsedName ?? end?.segment ?? ""), offset: 0 };
    },
    replay(after, onLine) {
      let end: JournalPosition | null;
      try {
        end = readJournalEnd(dir);
      } catch (error) {
        onError(`${dir} cannot be read (${errorCode(error)}): beckon starts without its journal`);
        return { lines: 0, skipped: 0 };
      }
      // After a power failure, or if the folder was emptied, the snapshot can be ahead of the journal.
      const isSnapshotAhead =
        after &&
        (!end || end.segment < after.segment || (end.segment === after.segment && end.offset < after.offset));
      if (isSnapshotAhead) lastUsedName = after.segment;
      return replaySegments(dir, after, onLine, onError);
    },
    recentIds(max) {
      try {
        return readRecentIds(dir, max);
      } catch {
        return [];
      }
    },
    rotate(covered) {
      try {
        startNewSegmentIfDue();
        removeOldSegments(covered);
      } catch (error) {
        onError(
          `old journal files could not be removed (${errorCode(error)}): beckon tries again after the next snapshot`,
        );
      }
    },
    close() {
      flush();
      if (current) closeSync(current.fd);
      current = null;
    },
  };
}

function stringifyHead({ id, at, t, boot, key, spool }: JournalEntry): string {
  return JSON.stringify({ id, at, t, boot, key, spool });
}

/** In JSON a line break is only white space between tokens. */
function removeLineBreaks(json: string): string {
  return json.includes("\n") || json.includes("\r") ? json.replace(/[\r\n]/g, " ") : json;
}

const bodyName = Buffer.from('"body":');
const [comma, brace, lineFeed] = [44, 125, 10];

/**
 * Adds the body's text to the head as its last field, and returns the end. To stringify the body again would cost more, and
 * JSON.stringify fails on deeply nested values.
 */
function writeLine(bytes: Buffer, start: number, head: string, body: string): number {
  let end = start + bytes.write(head, start);
  bytes[end - 1] = comma;
  bytes.set(bodyName, end);
  end += bodyName.length;
  end += bytes.write(body, end);
  bytes[end++] = brace;
  bytes[end++] = lineFeed;
  return end;
}
