/** Text in limited space: all of it, or its beginning and how much is missing. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  createLabel,
  fitLines,
  maxColumns,
  maxRows,
  measureMenuWidth,
  measureProportionalWidth,
  splitLines,
  wrapLine,
} from "../../../src/core/text/fit.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `line ${n + 1}`).join("\n");

describe("rows", () => {
  test("40 lines are shown", () => {
    expect(fitLines(splitLines(numbered(40)))).toEqual({ lines: numbered(40).split("\n"), isWhole: true });
  });
  test("51 lines are cut to the first 39 and the number of the others", () => {
    const { lines, isWhole } = fitLines(splitLines(numbered(51)));
    expect(isWhole).toBe(false);
    expect(lines.slice(0, 39)).toEqual(numbered(39).split("\n"));
    expect(lines.slice(39)).toEqual(["… 12 more lines"]);
  });
  test("a long line continues in the next row, with a mark", () => {
    const text = `${"word ".repeat(60)}end`;
    const { lines, isWhole } = fitLines(splitLines(`${text}\nnext`));
    expect(isWhole).toBe(true);
    expect(lines).toHaveLength(3);
    expect(lines[1]).toStartWith("⤷ ");
    expect(`${lines[0]}${lines[1]?.slice(2)}`).toBe(text);
  });
  test("an endless line is cut once, at its end, with how much is missing", () => {
    const { lines, isWhole } = fitLines(splitLines(`${"x".repeat(1_000_000)}\nb\nc`));
    expect(isWhole).toBe(false);
    expect(lines).toHaveLength(maxRows);
    const shown = lines.slice(0, -1).join("").replaceAll("⤷ ", "").length;
    expect(lines.at(-1)).toBe(`… ${1_000_000 - shown} more characters and 2 more lines`);
  });
  test("blanks that are shown as their number count with their real length", () => {
    const { lines, isWhole } = fitLines(splitLines(`ls${" ".repeat(100_000)}; rm -rf /`));
    expect(isWhole).toBe(false);
    expect(lines.at(-1)).toMatch(/^… \d+ more characters$/);
  });
  test("a mark is never split", () => {
    const { lines } = fitLines(splitLines("\u202e".repeat(100)));
    for (const line of lines) expect(line).toMatch(/^(?:⤷ )?(?:⟨U\+202E⟩)+$/);
  });
  test("a change of a million lines shows how many are missing", () => {
    expect(fitLines(splitLines("x\n".repeat(999_999), "+ ")).lines.at(-1)).toBe("… 999961 more lines");
  });
  test("many empty lines are shown as their number", () => {
    expect(fitLines(splitLines("ls\n\n\n\nid"))).toEqual({ lines: ["ls", "", "", "", "id"], isWhole: true });
    expect(fitLines(splitLines(`ls${"\n".repeat(60)}rm -rf /`, "+ "))).toEqual({
      lines: ["+ ls", "+ ⟨59 empty lines⟩", "+ rm -rf /"],
      isWhole: true,
    });
  });
});

describe("for any text", () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom(..." \n⤷⟨\t\u202eé語👍"),
      fc.constantFrom("\n", " ".repeat(45), "x".repeat(90), "語".repeat(60)),
    ),
    maxLength: 60,
  });
  test("at most 40 rows of 200 columns, and a whole text can be joined again", () => {
    fc.assert(
      fc.property(text, (given) => {
        const { lines, isWhole } = fitLines(splitLines(given));
        expect(lines.length).toBeLessThanOrEqual(maxRows);
        for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(maxColumns);
        if (!isWhole) {
          expect(lines.at(-1)).toStartWith("… ");
          return;
        }
        const joined = lines.join("\n").replaceAll("\n⤷ ", "");
        const back = joined
          .replace(/⟨(\d+) empty lines⟩/g, (_, count) => "\n".repeat(Number(count) - 1))
          .replace(/⟨(?:U\+([0-9A-F]+)|(\d+) spaces)⟩/g, (_, code, spaces) =>
            code === undefined ? " ".repeat(Number(spaces)) : String.fromCodePoint(Number.parseInt(code, 16)),
          );
        expect(back).toBe(given);
      }),
      { numRuns: 1_000 },
    );
  });
  test("no line of a text looks like a label of ours", () => {
    fc.assert(
      fc.property(fc.constantFrom("file", "leads to"), text, (name, given) => {
        const own = fitLines([createLabel(name, "x")]).lines;
        expect(fitLines(splitLines(`⟨${name}⟩ x`)).lines).not.toEqual(own);
        expect(fitLines(splitLines(given)).lines.some((line) => line.startsWith(`⟨${name}⟩`))).toBe(false);
      }),
    );
  });
});

const fold = (text: string) => wrapLine(text, 40, measureProportionalWidth);

test("a long command is wrapped between words, with a mark", () => {
  expect(fold("npm run deploy -- --env=production && git push origin main --tags")).toEqual([
    "npm run deploy -- --env=production && git",
    "⤷  push origin main --tags",
  ]);
});

test("a long word is split at the end of the row", () => {
  expect(fold("x".repeat(50))).toEqual(["x".repeat(40), `⤷ ${"x".repeat(10)}`]);
});

test("wide letters take more columns", () => {
  expect(fold("W".repeat(30))).toEqual(["W".repeat(24), `⤷ ${"W".repeat(6)}`]);
});

test("letters of other scripts count as wide, because some are", () => {
  expect(fold("ൠ".repeat(30))).toEqual(["ൠ".repeat(20), `⤷ ${"ൠ".repeat(10)}`]);
  expect(fold("漢".repeat(30))).toEqual(["漢".repeat(20), `⤷ ${"漢".repeat(10)}`]);
  expect(fold("я".repeat(40))).toEqual(["я".repeat(40)]);
});

test("wrapping loses and adds no letter, and no row ends in a blank of the middle of the text", () => {
  const letters = fc.string({
    unit: fc.constantFrom("a", "W", " ", "漢", "🙂", "e\u0301", "⟨U+202E⟩"),
    maxLength: 300,
  });
  fc.assert(
    fc.property(
      letters,
      fc.integer({ min: 12, max: 90 }),
      fc.constantFrom(measureMenuWidth, measureProportionalWidth),
      (text, columns, width) => {
        const rows = wrapLine(text, columns, width);
        expect(rows.map((row, n) => (n === 0 ? row : row.replace(/^⤷ /, ""))).join("")).toBe(text);
        for (const row of rows.slice(0, -1)) expect(row).not.toEndWith(" ");
      },
    ),
  );
});

test("no row is wider than its columns, except for blanks before a word", () => {
  const words = fc.string({ unit: fc.constantFrom("a", "W", "_", "漢", "."), minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(fc.array(words, { maxLength: 20 }), (list) => {
      for (const row of wrapLine(list.join(" "), 40, measureMenuWidth))
        expect(Bun.stringWidth(row)).toBeLessThanOrEqual(40);
    }),
  );
});
