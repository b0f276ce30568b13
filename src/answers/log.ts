/** The answer log: what was asked and answered, shown and not shown, one JSON line each, for `beckon log`. */
import { constants, fstatSync, lstatSync, readFileSync, readSync, rmSync } from "node:fs";
import { Value } from "@sinclair/typebox/value";
import { limits } from "../core/limits.ts";
import { dayMs } from "../core/timing.ts";
import { ignoreErrors, openOwnFile, withFile, writePrivateFile } from "../storage/files.ts";
import { appendBoundedLine } from "../storage/log.ts";
import { type AnswerLogEntry, AnswerLogEntrySchema } from "../streams/answer-log-entry.ts";

export interface AnswerLog {
  /** Writes soon, together with other entries. */
  add(entry: AnswerLogEntry): void;
  /** Writes now what is not written yet. */
  flush(): void;
  /** Removes entries older than the user's retention. */
  prune(now: number): void;
}

export interface AnswerLogOptions {
  readonly retentionDays: () => number;
  readonly maxBytes?: number;
  readonly onError: (text: string) => void;
}

/** Twenty busy agents end several asks a second: opening the file for each would cost more than everything else. */
const writeAfterMs = 100;
const maxBufferedLength = 16_384;

export function openAnswerLog(path: string, options: AnswerLogOptions): AnswerLog {
  const { maxBytes = limits.maxDecisionsBytes } = options;
  let buffer = "";
  let timer: ReturnType<typeof setTimeout> | null = null;

  function flush(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    const lines = buffer.trimEnd();
    buffer = "";
    if (lines !== "" && !appendBoundedLine(path, lines, maxBytes, limits.maxOlderLogs))
      options.onError(`could not write ${path}: the last answers are not in the log`);
  }

  return {
    add(entry) {
      buffer += `${JSON.stringify(entry)}\n`;
      if (buffer.length > Math.min(maxBufferedLength, maxBytes / 4)) flush();
      else timer ??= setTimeout(flush, writeAfterMs);
    },
    flush,
    prune(now) {
      flush();
      const oldest = now - options.retentionDays() * dayMs;
      for (const file of listFiles(path)) ignoreErrors(() => removeOlder(file, oldest));
    },
  };
}

/** From the oldest to the newest. */
function listFiles(path: string): string[] {
  const older = Array.from({ length: limits.maxOlderLogs }, (_, n) => `${path}.${limits.maxOlderLogs - n}`);
  return [...older, path];
}

function removeOlder(path: string, oldest: number): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) return;
  const lines = stats.mtimeMs < oldest ? [] : readLines(path);
  if (lines.length === 0) rmSync(path, { force: true });
  const kept = lines.filter((line) => (parseEntry(line)?.at ?? oldest) >= oldest);
  if (kept.length < lines.length) writePrivateFile(path, kept.map((line) => `${line}\n`).join(""));
}

/** From the oldest to the newest. Lines that make no sense are skipped. */
export function readAnswerLog(path: string): AnswerLogEntry[] {
  return readEntries(path, () => true);
}

/** What became of these alerts, from the oldest to the newest. To parse all lines would take ten times as long. */
export function findAlertEntries(path: string, keys: ReadonlySet<string>): AnswerLogEntry[] {
  if (keys.size === 0) return [];
  const ends = [...keys].map((key) => `"alert":${JSON.stringify(key)}}`);
  return readEntries(path, (line) => ends.some((end) => line.endsWith(end)));
}

function readEntries(path: string, isWanted: (line: string) => boolean): AnswerLogEntry[] {
  const entries = listFiles(path).flatMap((file) => {
    try {
      return readLines(file).flatMap((line) => (isWanted(line) && parseEntry(line)) || []);
    } catch {
      return [];
    }
  });
  // An outcome that was uncertain at first is written later than it happened.
  return entries.sort((a, b) => a.at - b.at);
}

/** Reads the end of the file, no more of it than beckon itself would have written. */
function readLines(path: string): string[] {
  return withFile(openOwnFile(path, constants.O_RDONLY), (file) => {
    const { size } = fstatSync(file);
    if (size <= limits.maxDecisionsBytes * 2) return splitLines(readFileSync(file, "utf8"));
    const part = Buffer.alloc(limits.maxDecisionsBytes * 2);
    const bytes = readSync(file, part, 0, part.length, size - part.length);
    return splitLines(part.toString("utf8", 0, bytes)).slice(1);
  });
}

const splitLines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

function parseEntry(line: string): AnswerLogEntry | null {
  try {
    const entry: unknown = JSON.parse(line);
    return Value.Check(AnswerLogEntrySchema, entry) ? entry : null;
  } catch {
    return null;
  }
}
