/** A text as rows that fit a small place. It is cut at its end only, and then says so. */
import { makeLineVisible } from "./visible.ts";

export const maxRows = 40;
export const maxColumns = 200;
/** Rows full of the widest characters are not longer than this. */
const maxLooked = maxRows * maxColumns * 2;

export interface FittedLine {
  /** "+ " and "- " of a change, or one of our own notes, which begin with a "⟨" that no text has. */
  readonly prefix: string;
  readonly text: string;
  /** Stands for so many lines. */
  readonly count?: number;
}

export interface FittedText {
  readonly lines: readonly string[];
  readonly isWhole: boolean;
}

interface Row {
  readonly text: string;
  readonly line: number;
  /** How much of the line stands before this row. */
  readonly start: number;
}

export function splitLines(text: string, prefix = ""): FittedLine[] {
  return createLines(text.split("\n"), prefix);
}

/** A million lines are not made a million objects: only the first of them can be seen. */
export function createLines(texts: readonly string[], prefix: string): FittedLine[] {
  const lines: FittedLine[] = [];
  let at = 0;
  while (at < texts.length && lines.length <= maxRows) {
    const empty = emptyFrom(texts, at);
    const isGap = empty > maxEmpty;
    lines.push(
      isGap
        ? { prefix: `${prefix}⟨${empty} empty lines⟩`, text: "", count: empty }
        : { prefix, text: texts[at] ?? "" },
    );
    at += isGap ? empty : 1;
  }
  const rest = texts.length - at;
  return rest > 0 ? [...lines, { prefix, text: "", count: rest }] : lines;
}

/** Fewer than these part paragraphs; more push what follows out of sight. */
const maxEmpty = 3;

function emptyFrom(texts: readonly string[], start: number): number {
  let end = start;
  while (texts[end] === "") end++;
  return end - start;
}

export function createLabel(name: string, text = ""): FittedLine {
  return { prefix: text === "" ? `⟨${name}⟩` : `⟨${name}⟩ `, text };
}

export function fitLines(lines: readonly FittedLine[]): FittedText {
  const rows: Row[] = [];
  for (let n = 0; n < lines.length && rows.length <= maxRows; n++) {
    const line = lines[n];
    if (line) rows.push(...rowsOf(line, n));
    if (line && line.text.length > maxLooked) {
      rows.push({ text: "", line: n, start: maxLooked });
      return cutAt(lines, rows, Math.min(rows.length - 1, maxRows - 1));
    }
  }
  if (rows.length <= maxRows) return { lines: rows.map(({ text }) => text), isWhole: true };
  return cutAt(lines, rows, maxRows - 1);
}

function cutAt(lines: readonly FittedLine[], rows: readonly Row[], end: number): FittedText {
  const kept = rows.slice(0, end).map(({ text }) => text);
  return { lines: [...kept, missing(lines, rows[end])], isWhole: false };
}

function missing(lines: readonly FittedLine[], row: Row | undefined): string {
  const { line, start } = row ?? { line: 0, start: 0 };
  const left = lines.slice(line).reduce((sum, { count = 1 }) => sum + count, 0);
  if (start === 0) return `… ${left} more ${left === 1 ? "line" : "lines"}`;
  const rest = (lines[line]?.text.length ?? 0) - start;
  const below = left === 1 ? "" : ` and ${left - 1} more ${left === 2 ? "line" : "lines"}`;
  return `… ${rest} more characters${below}`;
}

/** One mark, or one character with what combines with it. */
const piece = /⟨(?:U\+[0-9A-F]+|\d+ spaces)⟩|.(?:\p{M}|\u200c|\u200d)*/gsu;
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe10-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16f00}-\u{3fffd}]/u;
/** Stands before what goes on from the row above; no text begins with it. */
const continuationMark = "⤷ ";

/** What must not be parted, and how many columns it takes. */
function* pieces(text: string): Generator<{ readonly text: string; readonly width: number }> {
  for (const [found] of text.matchAll(piece)) {
    yield { text: found, width: wide.test(found) ? found.length * 2 : [...found].length };
  }
}

function rowsOf(line: FittedLine, n: number): Row[] {
  const text = makeLineVisible(wholeStart(line.text), true);
  const rows: Row[] = [];
  let row = text === "" ? line.prefix.trimEnd() : line.prefix;
  let width = row.length;
  let start = 0;
  let at = 0;
  let blanks = "";
  const end = () => {
    rows.push({ text: row, line: n, start });
    start = at;
    row = continuationMark;
    width = continuationMark.length;
  };
  for (const { text: found, width: ownWidth } of pieces(text)) {
    // A row never ends in a blank that cannot be seen: it goes with what follows.
    if (found === " ") {
      blanks += found;
      continue;
    }
    const next = blanks + found;
    const size = blanks.length + ownWidth;
    if (width + size > maxColumns && row !== continuationMark) end();
    row += next;
    width += size;
    at += blanks.length + sourceLength(found);
    blanks = "";
    if (rows.length > maxRows) return rows;
  }
  row += blanks;
  end();
  return rows;
}

function wholeStart(text: string): string {
  if (text.length <= maxLooked) return text;
  const isSplit = /[\ud800-\udbff]/.test(text.charAt(maxLooked - 1));
  return text.slice(0, isSplit ? maxLooked - 1 : maxLooked);
}

function sourceLength(found: string): number {
  if (!found.startsWith("⟨")) return found.length;
  const code = found.match(/U\+([0-9A-F]+)/)?.[1];
  if (code !== undefined) return Number.parseInt(code, 16) > 0xffff ? 2 : 1;
  return Number.parseInt(found.slice(1), 10);
}

/** Exact text in a narrow place: nothing of it is lost, and every row that goes on from the one above says so. */

export type MeasurePiece = (piece: { readonly text: string; readonly width: number }) => number;

export const measureMenuWidth: MeasurePiece = ({ width }) => width;

/** Of letters as fonts draw them, rather too wide: a row must not be wider than it is thought to be. */
const widths: readonly (readonly [RegExp, number])[] = [
  [/^[MWm@%—…⤷]/u, 1.625],
  [/^[A-Zw&#+=<>~_⟨⟩]/u, 1.25],
  [/^[ iljtfr.,:;'|!()[\]]/u, 0.625],
];

export const measureProportionalWidth: MeasurePiece = ({ text, width }) =>
  width * (widths.find(([letters]) => letters.test(text))?.[1] ?? 1);

/**
 * A long line as several rows, parted between words where one ends in the second half of a row. Blanks go with what follows
 * them: at the end of a row nobody would see them.
 */
export function wrapLine(line: string, columns: number, widthOf: MeasurePiece): readonly string[] {
  const rows: string[] = [];
  let row = "";
  let width = 0;
  let word = "";
  let wordWidth = 0;
  const part = () => {
    rows.push(row);
    row = continuationMark;
    width = continuationMark.length;
  };
  const takeWord = () => {
    row += word;
    width += wordWidth;
    word = "";
    wordWidth = 0;
  };
  let wasBlank = false;
  for (const piece of pieces(line)) {
    const isBlank = piece.text === " ";
    if (isBlank && !wasBlank) takeWord();
    wasBlank = isBlank;
    const size = widthOf(piece);
    if (width + wordWidth + size > columns && !isBlank) {
      if (width > columns / 2 && row.trim() !== "" && row !== continuationMark) part();
      else if (word.trim() !== "") {
        takeWord();
        part();
      }
    }
    word += piece.text;
    wordWidth += size;
  }
  takeWord();
  return [...rows, row];
}
