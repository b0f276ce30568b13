/** What every command uses to print: safe text, widths in columns, and stdout. */

import { escapeUnit } from "../core/text/json-text.ts";
import { shortenHome } from "../core/text/paths.ts";
import { homeOf } from "../system/folders.ts";

/** A reader that leaves early (`beckon status | head -1`) is not an error. */
export function print(text: string): void {
  if (process.stdout.listenerCount("error") === 0) process.stdout.on("error", () => {});
  process.stdout.write(text);
}

/**
 * JSON for the terminal or another program, as one line or with an indent. JSON.stringify escapes the control characters below
 * U+0020 only, but terminals also obey those from U+0080 to U+009F, and show text in the order that others ask for.
 */
export function formatJson(value: unknown, indent?: number): string {
  return `${JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    escapeUnit,
  )}\n`;
}

/** Prints each line with `formatLine`. */
export function printLines(lines: readonly string[]): void {
  print(lines.map((line) => `${formatLine(line)}\n`).join(""));
}

export const homeFolder = (): string => homeOf(process.env);

/** A sentence of beckon's for the terminal: no control characters, the home folder as `~`, and commands that can be run. */
export function formatLine(line: string): string {
  return stripControls(nameCommands(shortenHome(line, homeFolder())));
}

/** "Run: beckon --install" becomes "Run: npm start -- --install" in a checkout, where `npm start` is the only way to run it. */
function nameCommands(line: string): string {
  const { npm_lifecycle_event, npm_package_name } = process.env;
  if (npm_lifecycle_event !== "start" || npm_package_name !== "beckon" || Bun.which("beckon")) return line;
  return line.replace(/(?<=: )beckon (?=[a-z-])/g, "npm start -- ");
}

/** Text from an agent or a file may contain anything; the terminal must not obey it. Spaces stay, because they align columns. */
export function stripControls(text: string): string {
  return Bun.stripANSI(text.toWellFormed()).replace(
    /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/gu,
    " ",
  );
}

const defaultColumns = 120;

/** The width of the terminal. */
export function terminalColumns(): number {
  return process.stdout.columns || Number(process.env.COLUMNS) || defaultColumns;
}

/** How many columns the widest of the texts takes. */
export const findWidest = (texts: readonly string[]): number =>
  Math.max(0, ...texts.map((text) => Bun.stringWidth(text)));

/** The longest start of the text that fits. Some characters take two columns. */
function fitStart(text: string, columns: number): string {
  let start = "";
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += Bun.stringWidth(segment);
    if (used > columns) break;
    start += segment;
  }
  return start;
}

export function truncateToColumns(text: string, columns: number): string {
  const line = stripControls(text);
  return Bun.stringWidth(line) <= columns ? line : `${fitStart(line, columns - 1).trimEnd()}…`;
}

/** Breaks between words where possible, and truncates the last line. */
export function wrapText(text: string, columns: number, maxLines: number): string[] {
  const lines: string[] = [];
  let rest = stripControls(text).trim();
  while (lines.length < maxLines - 1 && Bun.stringWidth(rest) > columns) {
    const start = fitStart(rest, columns);
    const space = `${start}${rest.charAt(start.length)}`.lastIndexOf(" ");
    const end = space > start.length / 2 ? space : Math.max(1, start.length);
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return [...lines, truncateToColumns(rest, columns)];
}

/** Truncated or filled with spaces to exactly this width. */
export function padText(text: string, columns: number): string {
  const shown = truncateToColumns(text, columns);
  return shown + " ".repeat(Math.max(0, columns - Bun.stringWidth(shown)));
}

/** Rows of the same number of cells, in columns. The last column is as wide as it needs. */
export function formatColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, n) => findWidest(rows.map((row) => row[n] ?? "")));
  return rows.map((row) =>
    row.map((cell, n) => (n === row.length - 1 ? cell : padText(cell, widths[n] ?? 0))).join("  "),
  );
}

/**
 * Colours of the fixed part of the palette, because a terminal's own yellow, cyan and faint text cannot be read on white. Each has a
 * contrast of 4.5 on white and 4 on black.
 */
export const bold = "\x1b[1m";
export const dim = "\x1b[38;5;243m";
export const red = "\x1b[38;5;161m";
export const orange = "\x1b[38;5;130m";
export const teal = "\x1b[38;5;29m";
export const green = "\x1b[38;5;28m";

/** Whether the output may have colours: only on a terminal, and not if the user asked for none. */
export const hasColour = (): boolean => process.stdout.isTTY === true && !process.env.NO_COLOR;

export function paint(text: string, code: string, { colour }: { readonly colour: boolean }): string {
  if (!colour || code === "" || text.trim() === "") return text;
  // The spaces that fill a column stay outside, so that a line does not end in them.
  const end = text.trimEnd();
  return `${code}${end}\x1b[0m${text.slice(end.length)}`;
}

/** `Monday 16 November 2026` */
export function formatDay(at: number): string {
  const parts = { weekday: "long", day: "numeric", month: "long", year: "numeric" } as const;
  return new Date(at).toLocaleDateString("en-GB", parts).replace(",", "");
}
