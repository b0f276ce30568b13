/** The state on disk: whole or not at all, with the one before it kept, and never in the way of a start. */
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { limits } from "../core/limits.ts";
import { errorCode, writePrivateFile } from "./files.ts";
import type { JournalPosition } from "./journal/index.ts";
import { isSegmentName } from "./journal/segments.ts";
import type { Paths } from "./paths.ts";
import type { SpoolPosition } from "./spool.ts";

const version = 1;
const maxDamaged = 3;

export interface SnapshotFile {
  readonly version: typeof version;
  /** The journal up to here is in it. */
  readonly journal: JournalPosition | null;
  readonly spool: SpoolPosition | null;
  readonly [field: string]: unknown;
}

export interface LoadedSnapshot {
  readonly value: SnapshotFile | null;
  /** What was wrong, for the log. */
  readonly problem?: string;
}

type Found =
  | { readonly is: "good"; readonly value: SnapshotFile }
  | { readonly is: "missing" }
  | { readonly is: "unreadable" | "damaged"; readonly why: string }
  | { readonly is: "newer"; readonly why: string; readonly version: number };

const previousOf = (path: string) => path.replace(/(\.json)?$/, ".previous.json");

/** Throws if it cannot be written; what was there before is then still there. */
export function saveSnapshot(paths: Pick<Paths, "snapshot">, value: SnapshotFile): void {
  try {
    writePrivateFile(paths.snapshot, JSON.stringify(value), () => keepPrevious(paths.snapshot));
  } catch (cause) {
    throw new Error(
      `the snapshot could not be written (${errorCode(cause)}); the journal still has everything. Is ${dirname(paths.snapshot)} writable, and the disk not full?`,
      { cause },
    );
  }
}

function keepPrevious(snapshot: string): void {
  try {
    renameSync(snapshot, previousOf(snapshot));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

/**
 * The snapshot, or the one before it. What cannot be used is put aside, so that the next save does not overwrite it;
 * with `look` everything is left as it is.
 */
export function loadSnapshot(paths: Pick<Paths, "snapshot">, { look = false } = {}): LoadedSnapshot {
  const problems: string[] = [];
  for (const path of [paths.snapshot, previousOf(paths.snapshot)]) {
    const found = read(path);
    if (found.is === "missing") continue;
    if (found.is === "good") {
      if (problems.length > 0) problems.push(`${basename(path)} is used instead`);
      return { value: found.value, ...told(problems) };
    }
    const aside = look ? "" : putAside(path, paths.snapshot, found);
    problems.push(`${basename(path)} ${found.why}${aside}`);
  }
  if (problems.length > 0) problems.push("beckon starts from its journal");
  return { value: null, ...told(problems) };
}

const told = (problems: readonly string[]) => (problems.length > 0 ? { problem: problems.join("; ") } : {});

function read(path: string): Found {
  try {
    const { size } = statSync(path);
    if (size > limits.maxSnapshotBytes) return { is: "damaged", why: `is far too large (${size} bytes)` };
    const text = readFileSync(path, "utf8");
    if (text.trim() === "") return { is: "damaged", why: "is empty" };
    return judge(JSON.parse(text));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { is: "missing" };
    if (error instanceof SyntaxError) return { is: "damaged", why: "is damaged (no JSON)" };
    return { is: "unreadable", why: `cannot be read (${errorCode(error)})` };
  }
}

function judge(value: unknown): Found {
  const wrong: Found = { is: "damaged", why: "is damaged (not a snapshot)" };
  if (typeof value !== "object" || value === null) return wrong;
  const file = value as Partial<SnapshotFile>;
  if (Number.isSafeInteger(file.version) && Number(file.version) > version) {
    return {
      is: "newer",
      why: `was written by a newer beckon (version ${file.version})`,
      version: Number(file.version),
    };
  }
  const { journal } = file;
  const placed =
    !journal ||
    (isSegmentName(String(journal.segment)) && Number.isSafeInteger(journal.offset) && journal.offset >= 0);
  return file.version === version && placed ? { is: "good", value: value as SnapshotFile } : wrong;
}

function putAside(path: string, snapshot: string, found: Found): string {
  const stem = snapshot.replace(/\.json$/, "");
  const date = new Date().toISOString().replace(/[:.]/g, "-");
  const kept = path === snapshot ? "" : "-previous";
  const versioned = found.is === "newer" ? `${stem}.v${found.version}${kept}` : null;
  const free = versioned && !statSync(`${versioned}.json`, { throwIfNoEntry: false });
  const target = versioned
    ? free
      ? `${versioned}.json`
      : `${versioned}-${date}.json`
    : `${stem}.damaged-${date}${kept}.json`;
  try {
    renameSync(path, target);
    if (!versioned) forgetDamaged(stem);
    return ` and was put aside as ${basename(target)}`;
  } catch (error) {
    return ` and could not be put aside (${errorCode(error)})`;
  }
}

function forgetDamaged(stem: string): void {
  const start = `${basename(stem)}.damaged-`;
  const folder = dirname(stem);
  const damaged = readdirSync(folder)
    .filter((name) => name.startsWith(start))
    .sort();
  for (const name of damaged.slice(0, -maxDamaged)) rmSync(join(folder, name), { force: true });
}
