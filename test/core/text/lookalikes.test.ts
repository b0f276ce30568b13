/** A character that looks like ASCII is shown as what it is. Text in other scripts stays readable. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findLookalikes } from "../../../src/core/text/lookalikes.ts";
import { listLookalikes, makeVisible } from "../../../src/core/text/visible.ts";
import lookalikes from "../../fixtures/lookalikes.json";
import honestTexts from "../../fixtures/texts-in-other-scripts.json";

describe("a character that looks like ASCII, or cannot be seen, is marked", () => {
  test.each(lookalikes)("$text", ({ text, marks }) => {
    for (const mark of marks) expect(makeVisible(text)).toContain(`⟨${mark}⟩`);
  });
});

describe("text in other scripts is shown as it is written", () => {
  test.each(honestTexts)("%s", (text) => {
    expect(makeVisible(text)).toBe(text);
  });
});

test("what a lookalike looks like is named once", () => {
  expect(listLookalikes("a⁄b⁄c ｎpm\nсp -r a b")).toEqual(["U+2044 for /", "U+FF4E for n", "U+0441 for c"]);
});

test("ASCII is never a lookalike, and every lookalike stands for ASCII", () => {
  const chars = fc.constantFrom(...lookalikes.flatMap(({ text }) => [...text]), ..." ./-:;|a1한А");
  fc.assert(
    fc.property(fc.string({ unit: fc.oneof(chars, fc.string({ unit: "binary", maxLength: 1 })) }), (text) => {
      const codePoints = [...text];
      for (const [i, ascii] of findLookalikes(text)) {
        expect(codePoints[i]?.codePointAt(0)).toBeGreaterThan(0x7f);
        expect(ascii).toMatch(/^[\x21-\x7e]+$/);
      }
    }),
  );
});
