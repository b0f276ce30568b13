/**
 * What happens when the spool has reached its limit: events that ask the user nothing are dropped, and the newest requests and
 * what ends them are kept. What was dropped is counted in a file, until beckon starts and reports it.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { asRecord, readNumber } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { ignoreErrors, openOwnFile, readOwnFile, renameFile, withFile, writePrivateFile } from "./files.ts";
import type { Paths } from "./paths.ts";
import { readCompleteLines } from "./read-lines.ts";

/** What an event means for a spool that is full. */
export interface SpoolEvent {
  readonly session: string;
  /** "ask" opens a request to the user, "end" can end one, "tool" is a call that a request can be about. */
  readonly kind: "ask" | "end" | "tool" | "other";
  /** The id of the tool call; null if there is none. */
  readonly toolUseId: string | null;
  readonly at: number | null;
}

export interface DroppedEvents {
  readonly count: number;
  /** Wall times of the oldest and the newest; null if unknown. */
  readonly from: number | null;
  readonly to: number | null;
}

/** A hook that was killed while it did this left its claim behind. */
const claimMs = 30_000;
/** A hook that has the old file open writes its line within this time. */
const lateWriterMs = 20;
const maxLineBytes = limits.maxBodyBytes * 2;

export interface ShrinkOptions {
  /** null for a line that is not an event. */
  readonly classify: (line: string) => SpoolEvent | null;
  readonly maxBytes?: number;
  /** For tests. */
  readonly waitForWriters?: () => void;
}

/** Rewrites the spool to at most half of `maxBytes`. Returns what was dropped; null if another hook is doing it. */
export function shrinkSpool(path: string, options: ShrinkOptions): DroppedEvents | null {
  const claim = `${path}.shrinking`;
  if (!claimFile(claim)) return null;
  try {
    return withFile(openOwnFile(path, constants.O_RDONLY), (fd) => replaceSpool(path, fd, options));
  } finally {
    ignoreErrors(() => rmSync(claim, { force: true }));
  }
}

function claimFile(claim: string): boolean {
  const stats = lstatSync(claim, { throwIfNoEntry: false });
  if (stats && Math.abs(Date.now() - stats.mtimeMs) > claimMs)
    ignoreErrors(() => rmSync(claim, { force: true }));
  try {
    closeSync(openSync(claim, "wx", 0o600));
    return true;
  } catch {
    return false;
  }
}

interface Line {
  readonly start: number;
  readonly end: number;
  readonly at: number | null;
  isKept: boolean;
}

function replaceSpool(path: string, fd: number, options: ShrinkOptions): DroppedEvents {
  const { classify, maxBytes = limits.maxSpoolBytes } = options;
  const { waitForWriters = () => Bun.sleepSync(lateWriterMs) } = options;
  const { lines, end } = selectLines(fd, classify);
  keepNewest(lines, maxBytes / 2);
  const temporary = `${path}.${process.pid}.tmp`;
  // Other hooks append to it once it is in place.
  const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = constants;
  const copy = openOwnFile(temporary, O_APPEND | O_CREAT | O_EXCL | O_WRONLY);
  try {
    for (const line of lines) if (line.isKept) copyBytes(fd, copy, line.start, line.end);
    const { size } = fstatSync(fd);
    // A longer rest is not the line of a hook that is still writing.
    const isLine = size - end <= maxLineBytes;
    const copied = isLine ? copyBytes(fd, copy, end, size) : size;
    renameFile(temporary, path);
    waitForWriters();
    copyBytes(fd, copy, copied, fstatSync(fd).size);
  } catch (error) {
    ignoreErrors(() => rmSync(temporary, { force: true }));
    throw error;
  } finally {
    closeSync(copy);
  }
  const dropped = lines.filter(({ isKept }) => !isKept);
  const times = dropped.flatMap(({ at }) => at ?? []);
  return { count: dropped.length, from: times.at(0) ?? null, to: times.at(-1) ?? null };
}

/** Marks what opens and ends requests, and the tool calls that they are about. `end` is where the incomplete rest starts. */
function selectLines(
  fd: number,
  classify: (line: string) => SpoolEvent | null,
): { readonly lines: readonly Line[]; readonly end: number } {
  const lines: Line[] = [];
  /** By session: the last tool call, and the ids of calls that the user was asked about. */
  const lastCalls = new Map<string, { readonly line: Line; readonly toolUseId: string | null }>();
  const askedCalls = new Set<string>();
  const reader = readCompleteLines(fd, 0, maxLineBytes);
  let step = reader.next();
  for (; !step.done; step = reader.next()) {
    const { start, end, text } = step.value;
    const event = text === null ? null : classify(text.trimEnd());
    const line: Line = { start, end, at: event?.at ?? null, isKept: false };
    lines.push(line);
    if (!event) continue;
    const { session, kind, toolUseId } = event;
    if (kind === "tool") {
      line.isKept = toolUseId !== null && askedCalls.has(toolUseId);
      lastCalls.set(session, { line, toolUseId });
    } else if (kind === "ask") {
      line.isKept = true;
      const call = lastCalls.get(session);
      if (call) call.line.isKept = true;
      if (call?.toolUseId) askedCalls.add(call.toolUseId);
    } else {
      line.isKept = kind === "end";
    }
  }
  return { lines, end: step.value };
}

function keepNewest(lines: readonly Line[], maxBytes: number): void {
  let bytes = 0;
  for (const line of lines.toReversed()) {
    if (!line.isKept) continue;
    bytes += line.end - line.start;
    line.isKept = bytes <= maxBytes;
  }
}

const chunkBytes = 1024 * 1024;

/** Returns how far was copied. */
function copyBytes(from: number, to: number, start: number, end: number): number {
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(0, end - start)));
  let at = start;
  while (at < end) {
    const read = readSync(from, chunk, 0, Math.min(chunk.length, end - at), at);
    if (read === 0) break;
    for (let done = 0; done < read; ) done += writeSync(to, chunk, done, read - done);
    at += read;
  }
  return at;
}

type DroppedPath = Pick<Paths, "spoolDropped">;

/** null if nothing was dropped since beckon last reported it. */
export function readDroppedEvents({ spoolDropped }: DroppedPath): DroppedEvents | null {
  try {
    const { count, from, to } = asRecord(JSON.parse(readOwnFile(spoolDropped, limits.maxSmallFileBytes)));
    return typeof count === "number" && count > 0
      ? { count, from: readNumber(from), to: readNumber(to) }
      : null;
  } catch {
    return null;
  }
}

export function addDroppedEvents(paths: DroppedPath, { count, from, to }: DroppedEvents): void {
  const before = readDroppedEvents(paths);
  const sum = {
    count: count + (before?.count ?? 0),
    from: before?.from ?? from,
    to: to ?? before?.to ?? null,
  };
  writePrivateFile(paths.spoolDropped, `${JSON.stringify(sum)}\n`);
}

export function clearDroppedEvents({ spoolDropped }: DroppedPath): void {
  ignoreErrors(() => rmSync(spoolDropped, { force: true }));
}

/** A sentence for the user. */
export function describeDroppedEvents({ count, from, to }: DroppedEvents): string {
  const day = (at: number) => new Date(at).toISOString().slice(0, 16).replace("T", " ");
  const when = from === null || to === null ? "" : ` from ${day(from)} to ${day(to)} UTC`;
  return `While beckon was not running, the spool was full, and ${count} events${when} were dropped. The newest requests and questions were kept.`;
}
