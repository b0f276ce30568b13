/** beckon's own log: what it did and what went wrong, one line each. */
import { chmodSync } from "node:fs";
import { limits } from "../core/limits.ts";
import { appendBounded, oneLine } from "./append.ts";
import { tryTo } from "./private.ts";

export type Level = "info" | "warn" | "error";
export type Log = (level: Level, text: string) => void;

export interface LogOptions {
  readonly maxBytes?: number;
  /** Older files kept: .1, .2, … */
  readonly keep?: number;
  /** Warnings and errors also to stderr. */
  readonly echo?: boolean;
  readonly now?: () => Date;
}

/** How long repetitions of a line are only counted. */
const countMs = 5_000;

/** Never throws: a full disk must not stop what is being logged about. */
export function openLog(path: string, options: LogOptions = {}): Log {
  const { maxBytes = 1024 * 1024, keep = 3, echo = false, now = () => new Date() } = options;
  let last = "";
  let repeated = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;
  tryTo(() => chmodSync(path, 0o600));

  function write(line: string, level: Level): void {
    const stamped = `${now().toISOString()} ${line}`;
    appendBounded(path, stamped, maxBytes, keep);
    if (echo && level !== "info") tryTo(() => process.stderr.write(`${stamped}\n`));
  }

  function writeCount(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    if (repeated > 0) write(`… ${repeated} times more: ${last.slice(0, 80)}`, "info");
    repeated = 0;
  }

  return (level, text) => {
    const shown = oneLine(text.slice(0, limits.maxLogLineLength + 1));
    const cut =
      shown.length > limits.maxLogLineLength ? `${shown.slice(0, limits.maxLogLineLength)}…` : shown;
    const line = `${level.padEnd(5)} ${cut}`;
    if (line === last) {
      repeated++;
      timer ??= setTimeout(writeCount, countMs);
      timer.unref();
      return;
    }
    writeCount();
    last = line;
    write(line, level);
  };
}
