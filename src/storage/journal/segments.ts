/** The files of the journal. Their names are numbers that sort; only the newest is appended to. */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
} from "node:fs";
import { join } from "node:path";
import { errorCode } from "../files.ts";
import { findEndOfLastLine } from "../read-lines.ts";

/** A segment that is open for appending. */
export interface Segment {
  readonly name: string;
  readonly fd: number;
  readonly startedAt: number;
  /** The length of the complete lines in it. */
  length: number;
}

const segmentName = /^\d{10}\.jsonl$/;

export const isSegmentName = (name: string): boolean => segmentName.test(name);

/** Oldest first. */
export function listSegments(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isFile() && isSegmentName(entry.name))
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

export function nextSegmentName(name: string): string {
  const number = isSegmentName(name) ? Number.parseInt(name, 10) : 0;
  return `${String(number + 1).padStart(10, "0")}.jsonl`;
}

/** Cuts off an incomplete last line: it was never acknowledged, and the next line would continue it. */
export function reopenSegment(dir: string, name: string): Segment {
  const fd = openSync(join(dir, name), constants.O_RDWR | constants.O_APPEND);
  try {
    fchmodSync(fd, 0o600);
    const { size, birthtimeMs } = fstatSync(fd);
    const length = findEndOfLastLine(fd, size);
    if (length < size) ftruncateSync(fd, length);
    return { name, fd, startedAt: birthtimeMs, length };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

export function createSegment(dir: string, name: string, now: number): Segment {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL;
  return { name, fd: openSync(join(dir, name), flags, 0o600), startedAt: now, length: 0 };
}
