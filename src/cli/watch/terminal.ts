/** The terminal while a program fills its screen. Whatever ends the program, the terminal is as before then. */
import { writeSync } from "node:fs";
import type { Size } from "./model.ts";

export interface OpenedTerminal {
  size(): Size;
  /** Writes the lines that differ from what is on the screen. */
  draw(lines: readonly string[]): void;
  /** Writes every line at the next `draw`. */
  invalidate(): void;
  /** Gives the terminal back to the shell until the user continues the program. */
  suspend(): void;
  close(): void;
}

export interface TerminalEvents {
  readonly onInput: (chunk: string) => void;
  readonly onResize: () => void;
  /** A signal, or the terminal is gone. */
  readonly onEnd: () => void;
  /** An error that nobody caught. The terminal is as before already, so that the user can read it. */
  readonly onCrash: (error: unknown) => void;
}

/** Another screen, no cursor, no line breaks of the terminal's own, and pasted text marked as such. */
const enter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h";
const leave = "\x1b[0m\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l";
const endSignals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
const defaultSize: Size = { columns: 80, rows: 24 };

export function openTerminal({ onInput, onResize, onEnd, onCrash }: TerminalEvents): OpenedTerminal {
  const { stdin, stdout } = process;
  let shown: readonly string[] = [];
  let isOpen = false;

  function size(): Size {
    const { columns = 0, rows = 0 } = stdout;
    return { columns: columns || defaultSize.columns, rows: rows || defaultSize.rows };
  }

  function open(): void {
    isOpen = true;
    shown = [];
    stdout.write(enter);
    if (!stdin.isTTY) return;
    // Keys arrive one by one, and are not echoed.
    stdin.setRawMode(true).resume();
  }

  /** Synchronous, so that it also works while the process exits. */
  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    try {
      if (stdin.isTTY) stdin.setRawMode(false).pause();
      writeSync(1, leave);
    } catch {
      // The terminal is gone.
    }
  }

  const resize = (): void => {
    shown = [];
    onResize();
  };
  const resume = (): void => {
    if (isOpen) return;
    open();
    onResize();
  };
  const crash = (error: unknown): void => {
    close();
    onCrash(error);
  };
  for (const signal of endSignals) process.on(signal, onEnd);
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  process.on("SIGCONT", resume);
  process.on("exit", close);
  stdout.on("error", onEnd);
  stdout.on("resize", resize);
  if (stdin.isTTY) {
    stdin.setEncoding("utf8");
    stdin.on("data", onInput);
    stdin.on("end", onEnd);
    stdin.on("error", onEnd);
  }
  open();

  return {
    size,
    draw(lines) {
      if (!isOpen) return;
      const { columns } = size();
      const isAll = shown.length !== lines.length;
      const changed = lines.flatMap((text, row) => {
        if (!isAll && text === shown[row]) return [];
        // Erasing after a line that fills the row would erase its last character.
        const erase = Bun.stringWidth(text) < columns ? "\x1b[K" : "";
        return [`\x1b[${row + 1};1H${text}${erase}`];
      });
      shown = [...lines];
      if (changed.length > 0) stdout.write((isAll ? "\x1b[2J" : "") + changed.join(""));
    },
    invalidate() {
      shown = [];
    },
    suspend() {
      // Windows has no job control.
      if (process.platform === "win32") return;
      close();
      process.kill(process.pid, "SIGSTOP");
    },
    close() {
      close();
      for (const signal of endSignals) process.off(signal, onEnd);
      process.off("SIGCONT", resume);
      process.off("uncaughtException", crash);
      process.off("unhandledRejection", crash);
      process.off("exit", close);
      stdout.off("resize", resize);
      stdin.off("data", onInput);
    },
  };
}
