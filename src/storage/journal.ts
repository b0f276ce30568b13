/**
 * Every event beckon accepted, in the order it did: one JSON line each, in numbered segments. An event is here before it
 * is acknowledged, so state = snapshot + the lines after it.
 */
import { closeSync, fstatSync, ftruncateSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../limits.ts";
import { codeOf, tryTo } from "./private.ts";
import {
  type JournalLine,
  type JournalPosition,
  type Replayed,
  readEnd,
  readRecentIds,
  replaySegments,
} from "./replay.ts";
import { continueSegment, createSegment, listSegments, type Segment, segmentAfter } from "./segments.ts";

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
  replay(after: JournalPosition | null, onLine: (line: JournalLine) => void): Replayed;
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
    const code = codeOf(cause);
    const advice =
      code === "ENOSPC" || code === "EDQUOT" ? "Free some disk space." : "Is the state folder writable?";
    super(`the journal could not be written (${code}). ${advice}`, { cause });
    this.name = "JournalError";
    this.code = code;
  }
}

const dayMs = 86_400_000;
const checkMs = 20;
/** One buffer for all writes that fit: a new one, and one text of all lines to fill it with, was half the journal's cost. */
const scratch = Buffer.allocUnsafeSlow(256 * 1024);

export function openJournal(dir: string, options: JournalOptions): Journal {
  const { onError, maxBytes = limits.maxJournalBytes, now = Date.now } = options;
  let current: Segment | null = null;
  /** New segments sort after this one: positions in it may be known, though the file is gone or shorter. */
  let passed: string | null = null;
  let batch: { texts: string[]; done: PromiseWithResolvers<void> } | null = null;
  let checkedAt = 0;

  function open(): Segment {
    const last = listSegments(dir).at(-1) ?? "";
    if (last > (passed ?? "")) {
      try {
        return continueSegment(dir, last);
      } catch (error) {
        onError(`journal ${last} cannot be written (${codeOf(error)}): a new one is started`);
        passed = last;
      }
    }
    return createSegment(dir, segmentAfter(passed ?? last), now());
  }

  /** Leaves the segment as it is: the next append starts another. */
  function leave(segment: Segment): void {
    tryTo(() => closeSync(segment.fd));
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

  function flush(): void {
    const full = batch;
    batch = null;
    if (!full) return;
    try {
      write(bytesOf(full.texts));
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
      if (!batch) {
        batch = { texts: [], done: Promise.withResolvers() };
        setImmediate(flush);
      }
      batch.texts.push(headOf(entry), inOneLine(entry.text), lineEnd);
      return batch.done.promise;
    },
    position() {
      if (current) return { segment: current.name, offset: current.length };
      const end = readEnd(dir);
      if (end && end.segment > (passed ?? "")) return end;
      return { segment: segmentAfter(passed ?? end?.segment ?? ""), offset: 0 };
    },
    replay(after, onLine) {
      let end: JournalPosition | null;
      try {
        end = readEnd(dir);
      } catch (error) {
        onError(`${dir} cannot be read (${codeOf(error)}): beckon starts without its journal`);
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
          `the journal could not be tidied (${codeOf(error)}): it is tried again after the next snapshot`,
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

/** By hand: the body is put in as it came, and JSON.stringify gives up on deep ones. */
function headOf({ id, at, t, boot, key, spool }: JournalEntry): string {
  const from = spool ? `,"spool":[${JSON.stringify(spool[0])},${spool[1]}]` : "";
  return `{"id":${quoted(id)},"at":${at},"t":${t},"boot":${quotedBoot(boot)},"key":${quoted(key)}${from},"body":`;
}

const lineEnd = "}\n";

/** Ids and keys hardly ever need escaping. */
function quoted(text: string): string {
  return /[^\w.:-]/.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** The same in every line, until the next boot. */
let lastBoot: { readonly boot: string | null; readonly text: string } = { boot: null, text: "null" };
function quotedBoot(boot: string | null): string {
  if (boot !== lastBoot.boot) lastBoot = { boot, text: JSON.stringify(boot) };
  return lastBoot.text;
}

function inOneLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]/g, " ") : text;
}

function bytesOf(texts: readonly string[]): Buffer {
  let characters = 0;
  for (const text of texts) characters += text.length;
  // A character takes three bytes at most.
  if (characters * 3 > scratch.length) return Buffer.from(texts.join(""));
  let length = 0;
  for (const text of texts) length += scratch.write(text, length);
  return scratch.subarray(0, length);
}
