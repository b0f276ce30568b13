/** Reads the journal back. Lines are checked by hand: a start can have a hundred thousand of them. */
import { closeSync, constants, fstatSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../core/limits.ts";
import { errorCode, ignoreErrors, openOwnFile, withFile } from "../files.ts";
import { findEndOfLastLine, readCompleteLines, visitHeadsBackwards } from "../read-lines.ts";
import { listForeignEntries, listSegments, nextSegmentName } from "./segments.ts";

export interface JournalLine {
  readonly id: string;
  readonly at: number;
  readonly t: number;
  readonly boot: string | null;
  readonly key: string;
  /** The position in the spool after this event, if it came from there. */
  readonly spool?: readonly [string, number];
  readonly body: unknown;
}

export interface JournalPosition {
  readonly segment: string;
  readonly offset: number;
}

export interface ReplayResult {
  readonly lines: number;
  readonly skipped: number;
}

const maxReadBackBytes = 256 * 1024 * 1024;
/** `{"id":` and the longest id with every character escaped. */
const headBytes = 16 + limits.maxIdLength * 6;

export interface PositionedLine {
  readonly line: JournalLine;
  /** The position after it. */
  readonly end: JournalPosition;
}

/** Yields every complete line after the position, in order. `onSkipped` is called for what cannot be read. */
export function* readJournalLines(
  dir: string,
  after: JournalPosition | null,
  onSkipped: (text: string) => void,
): Generator<PositionedLine, void, void> {
  const segments = listSegments(dir).filter((name) => after === null || name >= after.segment);
  for (const segment of segments) {
    const from = after?.segment === segment ? after.offset : 0;
    try {
      yield* readSegment(dir, segment, from, segment === segments.at(-1), onSkipped);
    } catch (error) {
      onSkipped(`journal ${segment} cannot be read (${errorCode(error)}): the rest of it is skipped`);
    }
  }
}

function* readSegment(
  dir: string,
  segment: string,
  from: number,
  isNewest: boolean,
  onSkipped: (text: string) => void,
): Generator<PositionedLine, void, void> {
  const skip = (start: number, end: number, reason: string) =>
    onSkipped(`journal ${segment}: skipped ${end - start} bytes at byte ${start} (${reason})`);
  const fd = openSegment(dir, segment);
  try {
    const reader = readCompleteLines(fd, from, limits.maxJournalLineBytes);
    let step = reader.next();
    for (; !step.done; step = reader.next()) {
      const { start, end, text } = step.value;
      const line = text === null ? null : parseLine(text);
      if (line === null)
        skip(start, end, text === null ? "the line is too long" : "not a line of the journal");
      else yield { line, end: { segment, offset: end } };
    }
    const { size } = fstatSync(fd);
    // In the newest segment an incomplete line is normal after a crash: it was never acknowledged.
    if (!isNewest && step.value < size) skip(step.value, size, "the line is incomplete");
  } finally {
    closeSync(fd);
  }
}

/** Passes on every complete line after the position, in order. */
export function replaySegments(
  dir: string,
  after: JournalPosition | null,
  onLine: (line: JournalLine) => void,
  onError: (text: string) => void,
): ReplayResult {
  let lines = 0;
  let skipped = 0;
  const onSkipped = (text: string) => {
    skipped++;
    onError(text);
  };
  for (const name of listForeignEntries(dir)) onError(`journal ${name} is not a regular file: it is skipped`);
  for (const { line } of readJournalLines(dir, after, onSkipped)) {
    lines++;
    onLine(line);
  }
  return { lines, skipped };
}

/** The ids of the last `max` lines, oldest first. */
export function readRecentIds(dir: string, max: number): string[] {
  const ids: string[] = [];
  let bytesLeft = maxReadBackBytes;
  for (const segment of listSegments(dir).reverse()) {
    if (ids.length >= max || bytesLeft <= 0) break;
    // The replay has reported a segment that cannot be read.
    ignoreErrors(() =>
      withFile(openSegment(dir, segment), (fd) => {
        const end = findEndOfLastLine(fd, fstatSync(fd).size);
        const from = Math.max(0, end - bytesLeft);
        bytesLeft -= end - from;
        visitHeadsBackwards(fd, { from, end, headBytes }, (head) => {
          const id = parseId(head);
          if (id !== null) ids.push(id);
          return ids.length < max;
        });
      }),
    );
  }
  return ids.reverse();
}

/** The position after the last complete line. null if there is no segment. */
export function readJournalEnd(dir: string): JournalPosition | null {
  const segment = listSegments(dir).at(-1);
  if (segment === undefined) return null;
  try {
    return withFile(openSegment(dir, segment), (fd) => ({
      segment,
      offset: findEndOfLastLine(fd, fstatSync(fd).size),
    }));
  } catch {
    return { segment: nextSegmentName(segment), offset: 0 };
  }
}

const openSegment = (dir: string, name: string): number => openOwnFile(join(dir, name), constants.O_RDONLY);

function parseId(head: string): string | null {
  const quoted = /^\{"id":("(?:[^"\\]|\\.)*")/.exec(head)?.[1];
  try {
    return quoted === undefined ? null : (JSON.parse(quoted) as string);
  } catch {
    return null;
  }
}

function parseLine(text: string): JournalLine | null {
  try {
    const line = JSON.parse(text) as Partial<JournalLine> | null;
    return line && isJournalLine(line) ? line : null;
  } catch {
    return null;
  }
}

function isJournalLine(line: Partial<JournalLine>): line is JournalLine {
  return (
    typeof line.id === "string" &&
    typeof line.at === "number" &&
    typeof line.t === "number" &&
    (line.boot === null || typeof line.boot === "string") &&
    typeof line.key === "string" &&
    (line.spool === undefined ||
      (Array.isArray(line.spool) &&
        typeof line.spool[0] === "string" &&
        typeof line.spool[1] === "number")) &&
    line.body !== undefined
  );
}
