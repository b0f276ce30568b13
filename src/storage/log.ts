/** beckon's own log, one line per entry, in files of bounded size. A hook loads this file, so it imports little. */
import { closeSync, constants, fchmodSync, fstatSync, renameSync, writeFileSync } from "node:fs";
import type { Schedule } from "../core/interfaces/index.ts";
import { limits } from "../core/limits.ts";
import { escapeUnit } from "../core/text/json-text.ts";
import { truncate } from "../core/text/truncate.ts";
import { formatCount } from "../core/text/words.ts";
import { schedule as scheduleTimer } from "../system/schedule.ts";
import { openOrClearOwnFile } from "./files.ts";

export type Level = "info" | "warn" | "error";
export type Log = (level: Level, text: string) => void;

export interface LogOptions {
  readonly maxBytes?: number;
  /** How many older files to keep: .1, .2, … */
  readonly keep?: number;
  /** Print warnings and errors to stderr too. */
  readonly echo?: boolean;
  readonly now?: () => Date;
  readonly schedule?: Schedule;
}

/** A line that repeats is only counted for this long. */
const countMs = 5_000;

/** The returned function never throws: a full disk must not stop what is being logged. */
export function openLog(path: string, options: LogOptions = {}): Log {
  const {
    maxBytes = 1024 * 1024,
    keep = limits.maxOlderLogs,
    echo = false,
    now = () => new Date(),
  } = options;
  const { schedule = scheduleTimer } = options;
  let last = "";
  let repeated = 0;
  let cancelCount: (() => void) | null = null;

  function write(line: string, level: Level): void {
    const stamped = `${now().toISOString()} ${line}`;
    appendBoundedLine(path, stamped, maxBytes, keep);
    if (!echo || level === "info") return;
    try {
      process.stderr.write(`${stamped}\n`);
    } catch {
      // stderr is closed.
    }
  }

  function writeCount(): void {
    cancelCount?.();
    cancelCount = null;
    if (repeated > 0) write(`… ${formatCount(repeated, "more time")}: ${last.slice(0, 80)}`, "info");
    repeated = 0;
  }

  return (level, text) => {
    const escaped = escapeControlCharacters(text.slice(0, limits.maxLogLineLength + 1));
    const line = `${level.padEnd(5)} ${truncate(escaped, limits.maxLogLineLength)}`;
    if (line === last) {
      repeated++;
      cancelCount ??= schedule(writeCount, countMs);
      return;
    }
    writeCount();
    last = line;
    write(line, level);
  };
}

/**
 * Appends a line. A file that would grow beyond `maxBytes` is renamed to `.1` first, `.1` to `.2`, and so on up to `keep`.
 * Returns false if that fails, and never throws.
 */
export function appendBoundedLine(path: string, line: string, maxBytes: number, keep = 1): boolean {
  const text = `${line}\n`;
  let fd: number | null = null;
  try {
    fd = openForAppend(path);
    const { size } = fstatSync(fd);
    if (size > 0 && size + Buffer.byteLength(text) > maxBytes) {
      for (let number = keep; number > 0; number--) renameToNumber(path, number);
      closeSync(fd);
      fd = null;
      fd = openForAppend(path);
    }
    writeFileSync(fd, text);
    return true;
  } catch {
    return false;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

function openForAppend(path: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants;
  const fd = openOrClearOwnFile(path, O_APPEND | O_CREAT | O_WRONLY);
  if ((fstatSync(fd).mode & 0o077) !== 0) fchmodSync(fd, 0o600);
  return fd;
}

function renameToNumber(path: string, number: number): void {
  try {
    renameSync(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`);
  } catch {
    // There are not that many files yet.
  }
}

/** Escapes line breaks and the characters that a terminal would act on: an event can contain any text. */
export function escapeControlCharacters(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    if (character === "\n") return "\\n";
    if (character === "\t") return "\\t";
    return escapeUnit(character);
  });
}
