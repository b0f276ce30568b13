/** The text shows what would run: nothing is hidden, and no two texts look the same. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findInvisible, makeLineVisible, makeVisible } from "../../../src/core/text/visible.ts";

/** Back to the text: that this can be done is why no two texts look the same. */
function read(shown: string): string {
  return shown.replace(/⟨(?:U\+([0-9A-F]+)|(\d+) spaces)⟩/g, (_, code, spaces) =>
    code === undefined ? " ".repeat(Number(spaces)) : String.fromCodePoint(Number.parseInt(code, 16)),
  );
}

const tricky = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      ..." ⟨⟩⤷U+202E0123456789abc\t\r\n\x1b[2J\u202e\u2066\u200b\u200c\u200d\ufe0f\u00a0\u3000\u0301\u0338\u{e0041}\ud800\udc00",
    ),
    fc.constantFrom(
      "⟨U+202E⟩",
      "⟨40 spaces⟩",
      " ".repeat(40),
      "👩",
      "ب",
      "क",
      "्",
      "1\ufe0f\u20e3",
      "\u20e3",
      "\u034f",
      "\ue000",
    ),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
});

describe("invisible characters are marked", () => {
  test.each<[string, string, string]>([
    ["a turn of direction", "ls \u202etxt.exe", "ls ⟨U+202E⟩txt.exe"],
    ["an isolate", "a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"],
    ["a sequence for the terminal", "\x1b[31mred", "⟨U+001B⟩[31mred"],
    ["a return to the start of the line", "rm -rf /\rls", "rm -rf /⟨U+000D⟩ls"],
    ["a backspace", "rm\b\bls", "rm⟨U+0008⟩⟨U+0008⟩ls"],
    ["nothing", "a\0b", "a⟨U+0000⟩b"],
    ["a zero-width space", "rm\u200b", "rm⟨U+200B⟩"],
    ["a joiner between Latin letters", "r\u200dm", "r⟨U+200D⟩m"],
    ["a byte order mark", "\ufeffls", "⟨U+FEFF⟩ls"],
    ["tags", "a\u{e0041}", "a⟨U+E0041⟩"],
    ["half a character", "a\ud800b", "a⟨U+D800⟩b"],
    ["a space that does not break", "rm\u00a0-rf", "rm⟨U+00A0⟩-rf"],
    ["a wide space", "日本\u3000語", "日本⟨U+3000⟩語"],
    ["a blank that is a letter", "a\u3164b", "a⟨U+3164⟩b"],
    ["a vowel of Hangul on a Latin letter", "r\u1161m", "r⟨U+1161⟩m"],
    ["a final of Hangul on a Latin letter", "rm\u11a8\ud7cb", "rm⟨U+11A8⟩⟨U+D7CB⟩"],
    ["two vowels on one Hangul letter", "\u1112\u1161\u1161", "\u1112\u1161⟨U+1161⟩"],
    ["two finals on one Hangul syllable", "한\u11a8", "한⟨U+11A8⟩"],
    ["empty braille", "a\u2800b", "a⟨U+2800⟩b"],
    ["a line separator", "a\u2028b", "a⟨U+2028⟩b"],
    ["a private use character", "a\ue000b", "a⟨U+E000⟩b"],
    ["a stroke through a sign", "=\u0338", "=⟨U+0338⟩"],
    ["an accent on nothing", "\u0301a", "⟨U+0301⟩a"],
    ["a tower of accents", `a${"\u0301".repeat(7)}`, `a${"\u0301".repeat(5)}⟨U+0301⟩⟨U+0301⟩`],
    ["a tab between words", "a\tb", "a⟨U+0009⟩b"],
    ["a tab behind a space", " \tb", " ⟨U+0009⟩b"],
    ["tabs that push a line out of sight", `${"\t".repeat(12)}x`, `${"\t".repeat(11)}⟨U+0009⟩x`],
    ["a blank at the end", "ls \\ \nrm x", "ls \\⟨U+0020⟩\nrm x"],
    ["so many spaces that the rest is out of sight", `ls${" ".repeat(90)}; rm x`, "ls⟨90 spaces⟩; rm x"],
    ["characters as wide as many letters", "# \u2e3b\ufdfd\u{12031} x", "# ⟨U+2E3B⟩⟨U+FDFD⟩⟨U+12031⟩ x"],
    ["our own mark", "⟨U+202E⟩", "⟨U+27E8⟩U+202E⟩"],
    ["our own sign for a line that goes on", "⤷ x", "⟨U+2937⟩ x"],
  ])("%s", (_, text, shown) => {
    expect(makeVisible(text)).toBe(shown);
  });

  test("invisible characters are a danger, blanks are not", () => {
    expect(findInvisible("a\u202e b\u200b\u202e")).toEqual(["U+202E", "U+200B"]);
    expect(findInvisible("a\tb \n⟨x⟩ ⤷ 日本\u3000")).toEqual([]);
  });
});

describe("ordinary text stays as it is", () => {
  test.each([
    "",
    'git commit -m "It\'s done" && echo $HOME | tee x',
    "if true; then\n\techo indented\n  fi",
    "Grüße, señor: naïve façade — “quoted” … 5 × 3",
    "e\u0301 decomposed, Vie\u0323\u0302t",
    "Привет, мир. Γειά σου. Հայերեն. ქართული",
    "日本語、中文、한국어",
    "한국어".normalize("NFD"),
    "하\u11ab",
    "שָׁלוֹם עֲלֵיכֶם",
    "السلام عليكم ۱۲۳",
    "می‌خواهم کتاب‌ها را",
    "हिन्दी क्‍ष र्‍य, বাংলা র‍্য, தமிழ், සිංහල ශ්‍රී",
    "ภาษาไทย ที่นี่, བོད་སྐད་, မြန်မာ, ភាសាខ្មែរ",
    "👍🏽 👩‍👩‍👧‍👦 👩🏽‍⚕️ 🏳️‍🌈 ❤️ ☎︎ 1️⃣ #️⃣ 🇩🇪 ™️",
  ])("%j", (text) => {
    expect(makeVisible(text)).toBe(text);
  });
});

describe("for any text", () => {
  test("the original can be restored, so two texts never look the same", () => {
    fc.assert(
      fc.property(tricky, (text) => {
        expect(read(makeVisible(text))).toBe(text);
        expect(read(makeLineVisible(text))).toBe(text);
        expect(makeLineVisible(text)).not.toContain("\n");
      }),
      { numRuns: 2_000 },
    );
  });

  test("no invisible or control character is left", () => {
    // What emoji and the scripts of Persia and India are written with is left where it is used so: tested above.
    const hides =
      /[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u00a0\u00ad\u2000-\u200b\u200e\u200f\u202a-\u202f\u205f-\u206f\u3000\ufeff\u{e0000}-\u{e0fff}]/u;
    fc.assert(
      fc.property(tricky, (text) => {
        for (const line of makeVisible(text).split("\n")) {
          expect(line.replace(/^\t{1,11}/, "")).not.toMatch(hides);
          expect(line).not.toMatch(/[ \t]$/);
          expect(line).not.toMatch(/[\x20-\x7e]\p{Cf}+[\x20-\x7e]/u);
          expect(line).not.toMatch(/\p{M}{7}/u);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
