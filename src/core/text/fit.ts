/**
 * Exact text in limited space. A text is cut only at its end, where a label marks the cut. Every row that continues the row above starts
 * with a mark.
 */
import { takeStart } from "./truncate.ts";
import { makeLineVisible } from "./visible.ts";
import { isWide } from "./width.ts";
import { formatCount } from "./words.ts";

export const maxRows = 40;
export const maxColumns = 200;
/** Enough for `maxRows` rows of the widest characters. */
const maxInput = maxRows * maxColumns * 2;

export interface FittedLine {
  /** "+ " or "- " of a change, or one of beckon's labels. Labels start with "⟨", which no text does (see visible.ts). */
  readonly prefix: string;
  readonly text: string;
  /** How many lines this one stands for; 1 if absent. */
  readonly count?: number;
}

export interface FittedText {
  readonly lines: readonly string[];
  readonly isWhole: boolean;
}

interface Row {
  readonly text: string;
  /** Index of the line it belongs to. */
  readonly line: number;
  /** How many characters of that line come before this row. */
  readonly start: number;
}

export function splitLines(text: string, prefix = ""): FittedLine[] {
  return createLines(text.split("\n"), prefix);
}

/** Creates objects only for as many lines as can be shown. The last one counts the rest. */
export function createLines(texts: readonly string[], prefix: string): FittedLine[] {
  const lines: FittedLine[] = [];
  let index = 0;
  while (index < texts.length && lines.length <= maxRows) {
    const empty = countEmpty(texts, index);
    const isGap = empty > maxEmptyLines;
    lines.push(
      isGap
        ? { prefix: `${prefix}⟨${empty} empty lines⟩`, text: "", count: empty }
        : { prefix, text: texts[index] ?? "" },
    );
    index += isGap ? empty : 1;
  }
  const rest = texts.length - index;
  return rest > 0 ? [...lines, { prefix, text: "", count: rest }] : lines;
}

/** More empty lines than this push the text after them out of sight. */
const maxEmptyLines = 3;

function countEmpty(texts: readonly string[], start: number): number {
  let end = start;
  while (texts[end] === "") end++;
  return end - start;
}

/** One of beckon's labels, and the text that it labels. */
export function createLabel(name: string, text = ""): FittedLine {
  return { prefix: text === "" ? `⟨${name}⟩` : `⟨${name}⟩ `, text };
}

/** `most`: rows. */
export function fitLines(lines: readonly FittedLine[], most = maxRows): FittedText {
  const rows: Row[] = [];
  for (let n = 0; n < lines.length && rows.length <= most; n++) {
    const line = lines[n];
    if (line) rows.push(...splitRows(line, n));
    if (line && line.text.length > maxInput) {
      rows.push({ text: "", line: n, start: maxInput });
      return cutRows(lines, rows, Math.min(rows.length - 1, most - 1));
    }
  }
  if (rows.length <= most) return { lines: rows.map(({ text }) => text), isWhole: true };
  return cutRows(lines, rows, most - 1);
}

function cutRows(lines: readonly FittedLine[], rows: readonly Row[], end: number): FittedText {
  const kept = rows.slice(0, end).map(({ text }) => text);
  return { lines: [...kept, formatRest(lines, rows[end])], isWhole: false };
}

/** "… 3 more lines", "… 120 more characters and 2 more lines" */
function formatRest(lines: readonly FittedLine[], firstMissing: Row | undefined): string {
  const { line, start } = firstMissing ?? { line: 0, start: 0 };
  const left = lines.slice(line).reduce((sum, { count = 1 }) => sum + count, 0);
  if (start === 0) return `… ${formatCount(left, "more line")}`;
  const rest = (lines[line]?.text.length ?? 0) - start;
  const below = left === 1 ? "" : ` and ${formatCount(left - 1, "more line")}`;
  return `… ${rest} more characters${below}`;
}

/** A mark of visible.ts, or a character with everything that combines with it. */
const piecePattern = /⟨(?:U\+[0-9A-F]+|\d+ spaces)⟩|.(?:\p{M}|\u200c|\u200d)*/gsu;
/** Starts a row that continues the row above. No text starts with it (see visible.ts). */
export const continuationMark = "⤷ ";

/** Undoes the wrapping, for places that wrap by themselves. */
export function joinRows(rows: readonly string[]): string[] {
  const lines: string[] = [];
  for (const row of rows) {
    if (row.startsWith(continuationMark) && lines.length > 0)
      lines.push(lines.pop() + row.slice(continuationMark.length));
    else lines.push(row);
  }
  return lines;
}

/** Splits a text into what must stay together, with the columns that each takes. */
function* splitPieces(text: string): Generator<{ readonly text: string; readonly width: number }> {
  for (const [piece] of text.matchAll(piecePattern)) {
    yield { text: piece, width: isWide(piece) ? piece.length * 2 : [...piece].length };
  }
}

function splitRows(line: FittedLine, index: number): Row[] {
  const text = makeLineVisible(takeStart(line.text, maxInput), true);
  const rows: Row[] = [];
  let row = text === "" ? line.prefix.trimEnd() : line.prefix;
  let width = row.length;
  let start = 0;
  let position = 0;
  let blanks = "";
  const endRow = () => {
    rows.push({ text: row, line: index, start });
    start = position;
    row = continuationMark;
    width = continuationMark.length;
  };
  for (const piece of splitPieces(text)) {
    // Nobody sees a blank at the end of a row, so blanks go with the text after them.
    if (piece.text === " ") {
      blanks += piece.text;
      continue;
    }
    const size = blanks.length + piece.width;
    if (width + size > maxColumns && row !== continuationMark) endRow();
    row += blanks + piece.text;
    width += size;
    position += blanks.length + measureSource(piece.text);
    blanks = "";
    if (rows.length > maxRows) return rows;
  }
  row += blanks;
  endRow();
  return rows;
}

/** How many characters of the original text a piece stands for. */
function measureSource(piece: string): number {
  if (!piece.startsWith("⟨")) return piece.length;
  const code = piece.match(/U\+([0-9A-F]+)/)?.[1];
  if (code !== undefined) return Number.parseInt(code, 16) > 0xffff ? 2 : 1;
  return Number.parseInt(piece.slice(1), 10);
}

export type MeasurePiece = (piece: { readonly text: string; readonly width: number }) => number;

export const measureMenuWidth: MeasurePiece = ({ width }) => width;

/** Widths in a proportional font, estimated too wide rather than too narrow: a row must not be wider than assumed. */
const proportions: readonly (readonly [RegExp, number])[] = [
  [/^[MWm@%—…⤷]/u, 1.625],
  [/^[A-Zw&#+=<>~_⟨⟩]/u, 1.25],
  [/^[ iljtfr.,:;'|!()[\]]/u, 0.625],
];

/** Letters of other scripts and symbols, which terminals count as one column, can be as wide as two. */
const broad = /^[^\p{ASCII}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{P}]/u;

export const measureProportionalWidth: MeasurePiece = ({ text, width }) =>
  width *
  (proportions.find(([letters]) => letters.test(text))?.[1] ?? (width === 1 && broad.test(text) ? 2 : 1));

/**
 * Wraps a line that makeVisible has prepared. Rows break between words if a word ends in the second half of the row. Blanks go
 * with the word after them, because nobody sees them at the end of a row.
 */
export function wrapLine(line: string, columns: number, measure: MeasurePiece): readonly string[] {
  const rows: string[] = [];
  let row = "";
  let width = 0;
  let word = "";
  let wordWidth = 0;
  const endRow = () => {
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
  for (const piece of splitPieces(line)) {
    const isBlank = piece.text === " ";
    if (isBlank && !wasBlank) takeWord();
    wasBlank = isBlank;
    const size = measure(piece);
    if (width + wordWidth + size > columns && !isBlank) {
      if (width > columns / 2 && row.trim() !== "" && row !== continuationMark) endRow();
      else if (word.trim() !== "") {
        takeWord();
        endRow();
      }
    }
    word += piece.text;
    wordWidth += size;
  }
  takeWord();
  return [...rows, row];
}
