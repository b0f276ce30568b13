/** Exact text in a narrow place: nothing of it is lost, and every row that goes on from the one above says so. */
import { goesOn, pieces } from "./shown.ts";

export type WidthOf = (piece: { readonly text: string; readonly width: number }) => number;

export const inMenu: WidthOf = ({ width }) => width;

/** Of letters as fonts draw them, rather too wide: a row must not be wider than it is thought to be. */
const widths: readonly (readonly [RegExp, number])[] = [
  [/^[MWm@%—…⤷]/u, 1.625],
  [/^[A-Zw&#+=<>~_⟨⟩]/u, 1.25],
  [/^[ iljtfr.,:;'|!()[\]]/u, 0.625],
];

export const inProportion: WidthOf = ({ text, width }) =>
  width * (widths.find(([letters]) => letters.test(text))?.[1] ?? 1);

/**
 * A long line as several rows, parted between words where one ends in the second half of a row. Blanks go with what follows
 * them: at the end of a row nobody would see them.
 */
export function foldLine(line: string, columns: number, widthOf: WidthOf): readonly string[] {
  const rows: string[] = [];
  let row = "";
  let width = 0;
  let word = "";
  let wordWidth = 0;
  const part = () => {
    rows.push(row);
    row = goesOn;
    width = goesOn.length;
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
      if (width > columns / 2 && row.trim() !== "" && row !== goesOn) part();
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
