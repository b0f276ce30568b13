/** A QR code for the terminal: two rows of it in each line. */
import { encode } from "uqr";

/** Light on dark cannot be read by every camera, so on a terminal with colours it is black on white whatever the theme is. */
const blackOnWhite = "\x1b[30;107m";
const margin = 2;

export function formatQrCode(text: string, colour: boolean): string[] {
  const { data, size } = encode(text, { border: margin });
  const isDark = (row: number, column: number) => data[row]?.[column] === true;
  return Array.from({ length: Math.ceil(size / 2) }, (_, line) => {
    const cells = Array.from({ length: size }, (_, column) => {
      const [upper, lower] = [isDark(2 * line, column), isDark(2 * line + 1, column)];
      return upper ? (lower ? "█" : "▀") : lower ? "▄" : " ";
    });
    return colour ? `${blackOnWhite}${cells.join("")}\x1b[0m` : cells.join("");
  });
}
