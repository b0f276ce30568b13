/** The journal's files: numbered so that their names sort, appended to one at a time. */
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

export interface Segment {
  readonly name: string;
  readonly fd: number;
  readonly startedAt: number;
  /** How far it is whole. */
  length: number;
}

const pattern = /^\d{10}\.jsonl$/;

export const isSegmentName = (name: string): boolean => pattern.test(name);

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
  const number = pattern.test(name) ? Number.parseInt(name, 10) : 0;
  return `${String(number + 1).padStart(10, "0")}.jsonl`;
}

/** A torn last line was never acknowledged: it is cut off, or the next line would be glued to it. */
export function continueSegment(dir: string, name: string): Segment {
  const fd = openSync(join(dir, name), constants.O_RDWR | constants.O_APPEND);
  return orClose(fd, () => {
    fchmodSync(fd, 0o600);
    const { size, birthtimeMs } = fstatSync(fd);
    const length = findEndOfLastLine(fd, size);
    if (length < size) ftruncateSync(fd, length);
    return { name, fd, startedAt: birthtimeMs, length };
  });
}

export function createSegment(dir: string, name: string, now: number): Segment {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL;
  return { name, fd: openSync(join(dir, name), flags, 0o600), startedAt: now, length: 0 };
}

function orClose<T>(fd: number, use: () => T): T {
  try {
    return use();
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
