import { expect, test } from "bun:test";
import fc from "fast-check";
import { foldLine, inMenu, inProportion } from "../../../src/core/text/rows.ts";

const fold = (text: string) => foldLine(text, 40, inProportion);

test("a long command goes on behind a mark, parted between words", () => {
  expect(fold("npm run deploy -- --env=production && git push origin main --tags")).toEqual([
    "npm run deploy -- --env=production && git",
    "⤷  push origin main --tags",
  ]);
});

test("a long word is parted where the row ends", () => {
  expect(fold("x".repeat(50))).toEqual(["x".repeat(40), `⤷ ${"x".repeat(10)}`]);
});

test("wide letters take more room", () => {
  expect(fold("W".repeat(30))).toEqual(["W".repeat(24), `⤷ ${"W".repeat(6)}`]);
});

test("no letter of any text is lost, none is added, and no row ends in a blank that was not at its end", () => {
  const letters = fc.string({
    unit: fc.constantFrom("a", "W", " ", "漢", "🙂", "e\u0301", "⟨U+202E⟩"),
    maxLength: 300,
  });
  fc.assert(
    fc.property(
      letters,
      fc.integer({ min: 12, max: 90 }),
      fc.constantFrom(inMenu, inProportion),
      (text, columns, width) => {
        const rows = foldLine(text, columns, width);
        expect(rows.map((row, n) => (n === 0 ? row : row.replace(/^⤷ /, ""))).join("")).toBe(text);
        for (const row of rows.slice(0, -1)) expect(row).not.toEndWith(" ");
      },
    ),
  );
});

test("no row is wider than its columns, but for blanks before a word", () => {
  const words = fc.string({ unit: fc.constantFrom("a", "W", "_", "漢", "."), minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(fc.array(words, { maxLength: 20 }), (list) => {
      for (const row of foldLine(list.join(" "), 40, inMenu))
        expect(Bun.stringWidth(row)).toBeLessThanOrEqual(40);
    }),
  );
});
