/** The code on the screen says what it was made of: read back as a phone's camera would, by its black and white squares. */
import { expect, test } from "bun:test";
import { encode } from "uqr";
import { formatQrCode } from "../../src/cli/qr-code.ts";

const link = "https://ntfy.sh/beckon-0123456789abcdef";

test("two rows of squares are in each line, with a white margin", () => {
  const lines = formatQrCode(link, false);
  const { data, size } = encode(link, { border: 2 });
  const squares = lines.flatMap((line) => [
    [...line].map((cell) => cell === "█" || cell === "▀"),
    [...line].map((cell) => cell === "█" || cell === "▄"),
  ]);
  expect(squares.slice(0, size)).toEqual(data);
  expect(size).toBeLessThan(60);
});

test("on a terminal with colours it is black on white in any theme", () => {
  for (const line of formatQrCode(link, true)) {
    expect(line).toStartWith("\u001b[30;107m");
    expect(line).toEndWith("\u001b[0m");
  }
});
