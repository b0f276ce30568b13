/**
 * Every event beckon accepted, in the order it did: one JSON line each, in numbered segments. An event is here before it
 * is acknowledged, so state = snapshot + the lines after it.
 */

import { closeSync, fstatSync, ftruncateSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../core/limits.ts";
import { dayMs } from "../../core/timing.ts";
import { errorCode, ignoreErrors } from "../files.ts";
import {
  type JournalLine,
  type JournalPosition,
  type ReplayResult,
  readJournalEnd,
  readRecentIds,
  replaySegments,
} from "./read.ts";
import { continueSegment, createSegment, listSegments, nextSegmentName, type Segment } from "./segments.ts";

export type { JournalLine, JournalPosition };

export interface JournalEntry extends Omit<JournalLine, "body"> {
  /** The body's raw JSON text. */
  readonly text: string;
}

export interface JournalOptions {
  readonly retentionDays: () => number;
  readonly onError: (text: string) => void;
  /** Beyond this the oldest segments go before their time. */
  readonly maxBytes?: number;
  readonly now?: () => number;
}

export interface Journal {
  /** Settles once the entry is written: as many entries as came meanwhile share one write, and one fate. */
  append(entry: JournalEntry): Promise<void>;
  position(): JournalPosition;
  /** Before the first append: it also learns which positions are taken. */
  replay(after: JournalPosition | null, onLine: (line: JournalLine) => void): ReplayResult;
  /** The ids of the last `max` lines, oldest first. */
  recentIds(max: number): string[];
  /** Once a snapshot holds everything before `covered`. */
  rotate(covered: JournalPosition): void;
  close(): void;
}

/** The event is not in the journal and must not be acknowledged. */
export class JournalError extends Error {
  readonly code: string;
  constructor(cause: unknown) {
    const code = errorCode(cause);
    const advice =
      code === "ENOSPC" || code === "EDQUOT" ? "Free some disk space." : "Is the state folder writable?";
    super(`the journal could not be written (${code}). ${advice}`, { cause });
    this.name = "JournalError";
    this.code = code;
  }
}

const checkMs = 20;
/** Lines are gathered here until they are written: a new buffer for each write was half the journal's cost. */
const gatherBytes = 256 * 1024;

interface Batch {
  readonly bytes: Buffer;
  length: number;
  readonly done: PromiseWithResolvers<void>;
}

export function openJournal(dir: string, options: JournalOptions): Journal {
  const { onError, maxBytes = limits.maxJournalBytes, now = Date.now } = options;
  let current: Segment | null = null;
  /** New segments sort after this one: positions in it may be known, though the file is gone or shorter. */
  let passed: string | null = null;
  let gathered: Buffer | null = null;
  let batch: Batch | null = null;
  let checkedAt = 0;

  function open(): Segment {
    const last = listSegments(dir).at(-1) ?? "";
    if (last > (passed ?? "")) {
      try {
        return continueSegment(dir, last);
      } catch (error) {
        onError(`journal ${last} cannot be written (${errorCode(error)}): a new one is started`);
        passed = last;
      }
    }
    return createSegment(dir, nextSegmentName(passed ?? last), now());
  }

  /** Leaves the segment as it is: the next append starts another. */
  function leave(segment: Segment): void {
    ignoreErrors(() => closeSync(segment.fd));
    passed = segment.name;
    current = null;
  }

  /** Before every write, but not more often than a person could change it. */
  function checkCurrent(segment: Segment): void {
    const since = performance.now();
    if (since - checkedAt < checkMs) return;
    checkedAt = since;
    const { nlink, size } = fstatSync(segment.fd);
    if (nlink > 0 && size === segment.length) return;
    onError(
      `journal ${segment.name} was ${nlink > 0 ? "changed" : "deleted"} by another program: a new one is started`,
    );
    leave(segment);
  }

  function write(bytes: Buffer): void {
    if (current) checkCurrent(current);
    current ??= open();
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
        leave(segment);
      }
      throw error;
    }
    segment.length += bytes.length;
  }

  /** The batch that has room for so many bytes more. */
  function batchWith(room: number): Batch {
    if (batch && batch.length + room > batch.bytes.length) flush();
    if (batch) return batch;
    gathered ??= Buffer.allocUnsafeSlow(gatherBytes);
    const bytes = room > gatherBytes ? Buffer.allocUnsafeSlow(room) : gathered;
    batch = { bytes, length: 0, done: Promise.withResolvers() };
    setImmediate(flush);
    return batch;
  }

  function flush(): void {
    const full = batch;
    batch = null;
    if (!full) return;
    try {
      write(full.bytes.subarray(0, full.length));
      full.done.resolve();
    } catch (error) {
      full.done.reject(new JournalError(error));
    }
  }

  function startNext(): void {
    if (!current || current.length === 0) return;
    const old = now() - current.startedAt > Math.min(1, options.retentionDays()) * dayMs;
    if (current.length <= limits.maxSegmentBytes && !old) return;
    leave(current);
    current = open();
  }

  function removeCovered(covered: JournalPosition): void {
    const oldest = now() - options.retentionDays() * dayMs;
    let kept = 0;
    let isNewest = true;
    for (const name of listSegments(dir).reverse()) {
      const { size, mtimeMs } = statSync(join(dir, name));
      kept += size;
      const isWhole = name < covered.segment || (name === covered.segment && size <= covered.offset);
      if (name === current?.name || !isWhole) continue;
      // The newest stays, so that recentIds has something to read.
      if (!isNewest && (mtimeMs < oldest || kept > maxBytes)) rmSync(join(dir, name));
      isNewest = false;
    }
  }

  return {
    append(entry) {
      const head = headOf(entry);
      const body = inOneLine(entry.text);
      // A character takes three bytes at most.
      const room = (head.length + body.length) * 3 + bodyName.length + 2;
      const into = batchWith(room);
      into.length = putLine(into.bytes, into.length, head, body);
      return into.done.promise;
    },
    position() {
      if (current) return { segment: current.name, offset: current.length };
      const end = readJournalEnd(dir);
      if (end && end.segment > (passed ?? "")) return end;
      return { segment: nextSegmentName(passed ?? end?.segment ?? ""), offset: 0 };
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
      const ahead =
        after &&
        (!end || end.segment < after.segment || (end.segment === after.segment && end.offset < after.offset));
      if (ahead) passed = after.segment;
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
        startNext();
        removeCovered(covered);
      } catch (error) {
        onError(
          `the journal could not be tidied (${errorCode(error)}): it is tried again after the next snapshot`,
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

function headOf({ id, at, t, boot, key, spool }: JournalEntry): string {
  return JSON.stringify({ id, at, t, boot, key, spool });
}

function inOneLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]/g, " ") : text;
}

const bodyName = Buffer.from('"body":');
const [comma, brace, lineFeed] = [44, 125, 10];

/** The body is put into the head as it came: to write it anew would cost more, and JSON.stringify gives up on deep ones. */
function putLine(bytes: Buffer, start: number, head: string, body: string): number {
  let end = start + bytes.write(head, start);
  bytes[end - 1] = comma;
  bytes.set(bodyName, end);
  end += bodyName.length;
  end += bytes.write(body, end);
  bytes[end++] = brace;
  bytes[end++] = lineFeed;
  return end;
}
