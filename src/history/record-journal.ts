/** Records the lines of the journal, from where the last transaction stopped. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { JournalPosition } from "../storage/journal/index.ts";
import { readJournalLines } from "../storage/journal/read.ts";
import type { StateReplay } from "./catch-up.ts";
import { type OpenHistory, runTransaction } from "./connection.ts";
import type { Recorder } from "./recorder/index.ts";

/** A query waits for a slice at most. */
const sliceLines = 200;
/**
 * Lines of one transaction. Every transaction writes each page that it changed once, and a segment of the search index: with 300
 * lines this costs twice the CPU of 4,000.
 */
const transactionLines = 4_000;

export interface JournalPart {
  /** The journal's folder. */
  readonly journal: string;
  /** Lines after it are not recorded. */
  readonly upTo: JournalPosition;
  /** Adds to each event what it changes in the state. null if the app sends this itself. */
  readonly replay: StateReplay | null;
  readonly now: () => number;
  readonly report: (text: string) => void;
}

/**
 * Records in as many transactions as it takes; `finish` belongs to the last one. Resolves with false if the database was closed
 * meanwhile.
 */
export async function recordJournal(
  history: OpenHistory,
  part: JournalPart,
  finish: () => void,
): Promise<boolean> {
  for (let hasMore = true; hasMore && !history.isClosed; ) {
    hasMore = await runTransaction(history, async () => {
      const isIncomplete = await recordLines(history, part);
      if (!isIncomplete && !history.isClosed) finish();
      return isIncomplete;
    });
  }
  return !history.isClosed;
}

/** At most so many lines that one transaction should have, with pauses between slices. Resolves with true if there are more. */
async function recordLines(history: OpenHistory, part: JournalPart): Promise<boolean> {
  const { recorder } = history;
  const { journal: folder, upTo, replay } = part;
  let end = readCursor(recorder, folder, upTo);
  let count = 0;
  let sliceStarted = performance.now();
  for (const { line, end: lineEnd } of readJournalLines(folder, end, part.report)) {
    if (isAfter(lineEnd, upTo)) break;
    if (count === transactionLines) {
      writeCursor(end);
      return true;
    }
    if (count > 0 && count % sliceLines === 0) {
      await pauseFor(performance.now() - sliceStarted);
      if (history.isClosed) return false;
      sliceStarted = performance.now();
    }
    const event = recorder.recordLine(line);
    if (event && replay) for (const row of replay.apply(event)) recorder.recordRow(row);
    end = lineEnd;
    count++;
  }
  // Also past lines that could not be read.
  writeCursor(upTo);
  return false;

  function writeCursor(position: JournalPosition | null): void {
    if (position) recorder.writeCursor(position, readInode(folder, position.segment), part.now());
  }
}

/** Long work pauses for as long as each slice took: queries get in, and a storm of hooks gets the processor. */
export const pauseFor = (tookMs: number): Promise<void> => Bun.sleep(tookMs);

/** null if the journal is not the one that was recorded, so all of it is read. Known events are ignored. */
function readCursor(recorder: Recorder, folder: string, upTo: JournalPosition): JournalPosition | null {
  const cursor = recorder.readCursor();
  if (!cursor || isAfter(cursor.position, upTo)) return null;
  const inode = readInode(folder, cursor.position.segment);
  const isReplaced = inode !== "" && cursor.inode !== "" && inode !== cursor.inode;
  return isReplaced ? { ...cursor.position, offset: 0 } : cursor.position;
}

function isAfter(a: JournalPosition, b: JournalPosition): boolean {
  return a.segment > b.segment || (a.segment === b.segment && a.offset > b.offset);
}

/** Empty if the file is gone, or the system has no inodes. */
function readInode(folder: string, segment: string): string {
  const stats = statSync(join(folder, segment), { throwIfNoEntry: false });
  return stats?.ino ? String(stats.ino) : "";
}
