/** What was asked and answered, shown and not shown: one JSON line each, for `beckon log`. */

import { chmodSync, closeSync, fstatSync, openSync, readFileSync, readSync, rmSync, statSync } from "node:fs";
import { limits } from "../core/limits.ts";
import { dayMs } from "../core/timing.ts";
import { ignoreErrors, writePrivateFile } from "../storage/files.ts";
import { appendBoundedLine } from "../storage/log.ts";

/** Every text in it is masked before it comes here. */
export interface AnswerLogEntry {
  readonly at: number;
  readonly what: "answered" | "shown" | "not shown";
  /** `agent:sessionId` */
  readonly session: string;
  readonly project: string | null;
  /** What was asked, or what the alert says. */
  readonly asked: string;
  /** What came of it: "allowed", "denied: no", or why it was not shown. */
  readonly outcome: string;
  /** "command line", "notification", "rule …", "in the terminal"; null: nobody did it. */
  readonly by: string | null;
  /** Of what was shown or not: the alert's key. */
  readonly alert?: string;
}

export interface AnswerLog {
  /** Written within a moment, with whatever else comes in it. */
  add(entry: AnswerLogEntry): void;
  /** Writes now what is not written yet. */
  flush(): void;
  /** Lets go of what is older than the person wants. */
  prune(now: number): void;
}

const keptFiles = 3;
/** Twenty agents at work end some asks a second: a file opened and closed for each would cost more than all else about it. */
const soonMs = 100;
const maxWaiting = 16_384;

export interface AnswerLogOptions {
  readonly retentionDays: () => number;
  readonly maxBytes?: number;
  readonly onError: (text: string) => void;
}

export function openAnswerLog(path: string, options: AnswerLogOptions): AnswerLog {
  const { maxBytes = limits.maxDecisionsBytes } = options;
  ignoreErrors(() => chmodSync(path, 0o600));
  let waiting = "";
  let timer: ReturnType<typeof setTimeout> | null = null;

  function flush(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    const lines = waiting.trimEnd();
    waiting = "";
    if (lines !== "" && !appendBoundedLine(path, lines, maxBytes, keptFiles))
      options.onError(`could not write ${path}: what was answered is not in the log`);
  }

  return {
    add(entry) {
      waiting += `${JSON.stringify(entry)}\n`;
      if (waiting.length > Math.min(maxWaiting, maxBytes / 4)) flush();
      else timer ??= setTimeout(flush, soonMs);
    },
    flush,
    prune(now) {
      flush();
      const oldest = now - options.retentionDays() * dayMs;
      for (const name of filesOf(path)) ignoreErrors(() => dropOlder(name, oldest));
    },
  };
}

/** The oldest first. */
function filesOf(path: string): string[] {
  const older = Array.from({ length: keptFiles }, (_, n) => `${path}.${keptFiles - n}`);
  return [...older, path];
}

function dropOlder(path: string, oldest: number): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile()) return;
  const lines = found.mtimeMs < oldest ? [] : linesOf(path);
  if (lines.length === 0) rmSync(path, { force: true });
  const kept = lines.filter((line) => (readEntry(line)?.at ?? oldest) >= oldest);
  if (kept.length < lines.length) writePrivateFile(path, kept.map((line) => `${line}\n`).join(""));
}

/** The newest last. A line that makes no sense is passed over. */
export function readAnswerLog(path: string): AnswerLogEntry[] {
  const entries = filesOf(path).flatMap((name) => {
    try {
      return linesOf(name).flatMap((line) => readEntry(line) ?? []);
    } catch {
      return [];
    }
  });
  // What was not sure at first is written down a little later than it happened.
  return entries.sort((a, b) => a.at - b.at);
}

/** Whatever lies there, no more of it than beckon itself would have written. */
function linesOf(path: string): string[] {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    if (size <= limits.maxDecisionsBytes * 2) return split(readFileSync(file, "utf8"));
    const part = Buffer.alloc(limits.maxDecisionsBytes * 2);
    const read = readSync(file, part, 0, part.length, size - part.length);
    return split(part.toString("utf8", 0, read)).slice(1);
  } finally {
    closeSync(file);
  }
}

const split = (text: string): string[] => text.split("\n").filter((line) => line !== "");

const kinds: ReadonlySet<unknown> = new Set(["answered", "shown", "not shown"]);

function readEntry(line: string): AnswerLogEntry | null {
  try {
    const entry = JSON.parse(line);
    const isText = (value: unknown) => typeof value === "string";
    const isTextOrNull = (value: unknown) => value === null || isText(value);
    const { at, what, session, project, asked, outcome, by } = Object(entry) as Record<string, unknown>;
    const isWhole = Number.isFinite(at) && kinds.has(what) && [session, asked, outcome].every(isText);
    return isWhole && [project, by].every(isTextOrNull) ? entry : null;
  } catch {
    return null;
  }
}
