/**
 * The journal: every event that beckon accepted, in order, one JSON line each, in numbered files (segments). An event is here
 * before it is acknowledged. So the snapshot and the lines after it give the state, and kill -9 loses nothing.
 */
import { errorCode, UnsafeFileError } from "../files.ts";
import {
  type JournalLine,
  type JournalPosition,
  type ReplayResult,
  readJournalEnd,
  readRecentIds,
  replaySegments,
} from "./read.ts";
import { createSegmentWriter, type JournalOptions } from "./segment-writer.ts";

export type { JournalLine, JournalOptions, JournalPosition };

export interface JournalEntry extends Omit<JournalLine, "body"> {
  /** The JSON text of the body. */
  readonly text: string;
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
  /**
   * Removes old segments. Call it once a snapshot contains everything before `covered`. What the history has not recorded yet,
   * after `recorded`, stays longer.
   */
  rotate(covered: JournalPosition, recorded?: JournalPosition | null): void;
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

/** Lines are collected in one buffer until they are written: a new buffer for each write was half the journal's cost. */
const bufferBytes = 256 * 1024;

/** The entries of one write. */
interface Batch {
  readonly bytes: Buffer;
  length: number;
  readonly written: PromiseWithResolvers<void>;
}

export function openJournal(dir: string, options: JournalOptions): Journal {
  const { onError } = options;
  const segments = createSegmentWriter(dir, options);
  let buffer: Buffer | null = null;
  let batch: Batch | null = null;

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
      segments.write(full.bytes.subarray(0, full.length));
      full.written.resolve();
    } catch (error) {
      full.written.reject(new JournalError(error));
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
    position: segments.position,
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
      if (isSnapshotAhead) segments.startAfter(after.segment);
      return replaySegments(dir, after, onLine, onError);
    },
    recentIds(max) {
      try {
        return readRecentIds(dir, max);
      } catch {
        return [];
      }
    },
    rotate(covered, recorded) {
      try {
        segments.rotate(covered, recorded);
      } catch (error) {
        onError(
          `old journal files could not be removed (${errorCode(error)}): beckon tries again after the next snapshot`,
        );
      }
    },
    close() {
      flush();
      segments.close();
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
