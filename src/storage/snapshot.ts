/** The snapshot of the state: written atomically, with the previous one kept. A damaged one never prevents a start. */
import { lstatSync } from "node:fs";
import { basename, dirname } from "node:path";
import { limits } from "../core/limits.ts";
import { formatFileTime } from "../core/text/paths.ts";
import { errorCode, readOwnFile, renameFile, writePrivateFile } from "./files.ts";
import type { JournalPosition } from "./journal/index.ts";
import { isSegmentName } from "./journal/segments.ts";
import type { Paths } from "./paths.ts";
import { renameAside, setDamagedAside } from "./set-aside.ts";
import type { SpoolPosition } from "./spool-position.ts";

const version = 1;

export interface SnapshotFile {
  readonly version: typeof version;
  /** The snapshot contains the journal up to here. */
  readonly journal: JournalPosition | null;
  readonly spool: SpoolPosition | null;
  readonly [field: string]: unknown;
}

export interface LoadedSnapshot {
  readonly value: SnapshotFile | null;
  /** For the log. */
  readonly problem?: string;
}

type ReadResult =
  | { readonly kind: "good"; readonly value: SnapshotFile }
  | { readonly kind: "missing" }
  | { readonly kind: "unreadable" | "damaged"; readonly reason: string }
  | { readonly kind: "newer"; readonly reason: string; readonly version: number };

export const previousPath = (path: string) => path.replace(/(\.json)?$/, ".previous.json");

/** Throws if the snapshot cannot be written. The one before is then still there. */
export function saveSnapshot(paths: Pick<Paths, "snapshot">, value: SnapshotFile): void {
  try {
    writePrivateFile(paths.snapshot, JSON.stringify(value), {
      beforeRename: () => keepPrevious(paths.snapshot),
    });
  } catch (cause) {
    throw new Error(
      `the snapshot could not be written (${errorCode(cause)}), but the journal has everything. Is ${dirname(paths.snapshot)} writable, and the disk not full?`,
      { cause },
    );
  }
}

function keepPrevious(snapshot: string): void {
  try {
    renameFile(snapshot, previousPath(snapshot));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

/**
 * The snapshot, or the previous one if it cannot be used. One that cannot be used is renamed, so that the next save does not
 * overwrite it, unless `readOnly` is set.
 */
export function loadSnapshot(
  paths: Pick<Paths, "snapshot">,
  { readOnly = false, now = () => new Date() } = {},
): LoadedSnapshot {
  const problems: string[] = [];
  for (const path of [paths.snapshot, previousPath(paths.snapshot)]) {
    const result = readSnapshotFile(path);
    if (result.kind === "missing") continue;
    if (result.kind === "good") {
      if (problems.length > 0) problems.push(`${basename(path)} is used instead`);
      return { value: result.value, ...joinProblems(problems) };
    }
    const renamed = readOnly ? "" : setAside(path, paths.snapshot, result, now());
    problems.push(`${basename(path)} ${result.reason}${renamed}`);
  }
  if (problems.length > 0) problems.push("beckon starts from its journal");
  return { value: null, ...joinProblems(problems) };
}

const joinProblems = (problems: readonly string[]) =>
  problems.length > 0 ? { problem: problems.join("; ") } : {};

function readSnapshotFile(path: string): ReadResult {
  try {
    const text = readOwnFile(path, limits.maxSnapshotBytes);
    if (text.trim() === "") return { kind: "damaged", reason: "is empty" };
    return checkSnapshotHeader(JSON.parse(text));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { kind: "missing" };
    if (errorCode(error) === "EFBIG") return { kind: "damaged", reason: "is too large" };
    if (error instanceof SyntaxError) return { kind: "damaged", reason: "is damaged (not JSON)" };
    return { kind: "unreadable", reason: `cannot be read (${errorCode(error)})` };
  }
}

/** Checks the version and the journal position. The sessions are checked when they are decoded. */
function checkSnapshotHeader(value: unknown): ReadResult {
  const damaged: ReadResult = { kind: "damaged", reason: "is damaged (not a snapshot)" };
  if (typeof value !== "object" || value === null) return damaged;
  const file = value as Partial<SnapshotFile>;
  if (Number.isSafeInteger(file.version) && Number(file.version) > version) {
    return {
      kind: "newer",
      reason: `was written by a newer beckon (version ${file.version})`,
      version: Number(file.version),
    };
  }
  const { journal } = file;
  const hasPosition =
    !journal ||
    (isSegmentName(String(journal.segment)) && Number.isSafeInteger(journal.offset) && journal.offset >= 0);
  return file.version === version && hasPosition ? { kind: "good", value: value as SnapshotFile } : damaged;
}

/** Renames the file, and returns the end of a sentence that says so. */
function setAside(path: string, snapshot: string, result: ReadResult, now: Date): string {
  const suffix = path === snapshot ? "" : "-previous";
  if (result.kind !== "newer") return setDamagedAside(path, { now, suffix, owner: snapshot });
  const versioned = `${snapshot.replace(/\.json$/, "")}.v${result.version}${suffix}`;
  const isFree = !lstatSync(`${versioned}.json`, { throwIfNoEntry: false });
  return renameAside(path, isFree ? `${versioned}.json` : `${versioned}-${formatFileTime(now)}.json`);
}
