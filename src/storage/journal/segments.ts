/** The files of the journal. Their names are numbers that sort; only the newest is appended to. */
import {
  closeSync,
  constants,
  type Dirent,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  readdirSync,
} from "node:fs";
import { join } from "node:path";
import { checkOwnFolder, errorCode, openOwnFile } from "../files.ts";
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
  return listEntries(dir).flatMap((entry) => (entry.isFile() ? entry.name : []));
}

/** Links, folders and pipes with the name of a segment. They are left alone. */
export function listForeignEntries(dir: string): string[] {
  return listEntries(dir).flatMap((entry) => (entry.isFile() ? [] : entry.name));
}

function listEntries(dir: string): Dirent[] {
  checkOwnFolder(dir);
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter(({ name }) => isSegmentName(name))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
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
  const fd = openOwnFile(join(dir, name), constants.O_RDWR | constants.O_APPEND);
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
  checkOwnFolder(dir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL;
  return { name, fd: openOwnFile(join(dir, name), flags), startedAt: now, length: 0 };
}
