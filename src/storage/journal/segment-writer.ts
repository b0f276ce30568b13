/** Writes to the newest segment of the journal. Starts another one if it is old, large, or was changed by another program. */
import { closeSync, fstatSync, ftruncateSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../core/limits.ts";
import { dayMs } from "../../core/timing.ts";
import { errorCode, ignoreErrors } from "../files.ts";
import { type JournalPosition, readJournalEnd } from "./read.ts";
import {
  createSegment,
  listForeignEntries,
  listSegments,
  nextSegmentName,
  reopenSegment,
  type Segment,
} from "./segments.ts";

export interface JournalOptions {
  readonly retentionDays: () => number;
  readonly onError: (text: string) => void;
  /** If the journal is larger, the oldest segments are removed early. */
  readonly maxBytes?: number;
  readonly now?: () => number;
}

export interface SegmentWriter {
  /** Writes all of it, or throws. */
  write(bytes: Buffer): void;
  /** Everything before it is in the journal. */
  position(): JournalPosition;
  /** A new segment must sort after this one. */
  startAfter(name: string): void;
  /** Removes old segments. Throws. */
  rotate(covered: JournalPosition, recorded?: JournalPosition | null): void;
  close(): void;
}

/** How often to check that no other program has changed the newest segment. */
const checkMs = 20;

/** A history that lags behind gets this many times the journal's size: a million events at once have 1.3 GB. */
const unrecordedFactor = 4;

export function createSegmentWriter(dir: string, options: JournalOptions): SegmentWriter {
  const { onError, maxBytes = limits.maxJournalBytes, now = Date.now } = options;
  let current: Segment | null = null;
  /** A new segment sorts after this one: a snapshot may know positions in it, though the file is gone or shorter now. */
  let lastUsedName: string | null = null;
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

  function startNewSegmentIfDue(): void {
    if (!current || current.length === 0) return;
    const isOld = now() - current.startedAt > Math.min(1, options.retentionDays()) * dayMs;
    if (current.length <= limits.maxSegmentBytes && !isOld) return;
    leaveSegment(current);
    current = openSegment();
  }

  function removeOldSegments(covered: JournalPosition, recorded: JournalPosition | null): void {
    const oldestAt = now() - options.retentionDays() * dayMs;
    let totalBytes = 0;
    let isNewest = true;
    for (const name of listSegments(dir).reverse()) {
      const { size, mtimeMs } = statSync(join(dir, name));
      totalBytes += size;
      const isCovered = name < covered.segment || (name === covered.segment && size <= covered.offset);
      if (name === current?.name || !isCovered) continue;
      const isRecorded = recorded === null || name < recorded.segment;
      const isAwaited = !isRecorded && totalBytes <= maxBytes * unrecordedFactor;
      // The newest stays, so that recentIds has something to read.
      const isKept = isNewest || isAwaited;
      if (!isKept && (mtimeMs < oldestAt || totalBytes > maxBytes)) rmSync(join(dir, name));
      isNewest = false;
    }
  }

  return {
    write,
    position() {
      if (current) return { segment: current.name, offset: current.length };
      const end = readJournalEnd(dir);
      if (end && end.segment > (lastUsedName ?? "")) return end;
      return { segment: nextSegmentName(lastUsedName ?? end?.segment ?? ""), offset: 0 };
    },
    startAfter(name) {
      lastUsedName = name;
    },
    rotate(covered, recorded = null) {
      startNewSegmentIfDue();
      removeOldSegments(covered, recorded);
    },
    close() {
      if (current) closeSync(current.fd);
      current = null;
    },
  };
}
