/**
 * Makes untrusted text show exactly what would run: a character that cannot be seen, or that looks like another, is written as
 * ⟨U+202E⟩. A "⟨" in the text itself is marked too, so two different texts never look the same.
 */
import { findLookalikes } from "./lookalikes.ts";

/** Keeps line breaks. */
export function makeVisible(text: string): string {
  return text
    .split("\n")
    .map((line) => makeLineVisible(line, true))
    .join("\n");
}

/** This many spaces or more push the text after them out of sight. */
const maxSpaces = 40;
/** Tabs that may indent a line. */
const maxTabs = 10;
const manySpaces = new RegExp(` {${maxSpaces},}`, "g");

const plainAscii = /^(?:[\x20-\x7e]*[\x21-\x7e])?$/;
const invisible =
  /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u;
/** Format characters (Cf) that are drawn nevertheless. */
const drawnFormat = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u;
/** Many times as wide as a letter, while terminals count one column: a row of these pushes the text after it out of sight. */
const oversized = /[\u2e3a\u2e3b\ufdfd\u{12000}-\u{1254f}]/u;
const combining = /\p{M}/u;
/** A letter that is struck through or enclosed looks like another. */
const overlay = /[\u0334-\u0338\u20d2\u20d3\u20d8-\u20da\u20dd-\u20e0\u20e2-\u20ea]/u;
const letter = /[\p{L}\u25cc]/u;
const asciiLetter = /^[A-Za-z]$/;
/** Accents that no script has for itself. */
const inherited = /\p{Script=Inherited}/u;
const dottedLetter = /[\p{Soft_Dotted}\u0131\u0237]/u;
const dotAbove = "\u0307";
/** Parts of a Hangul syllable. Terminals give the vowel and the final no width of their own. */
const hangulInitial = /[\u1100-\u115e\ua960-\ua97c]/;
const hangulVowel = /[\u1160-\u11a7\ud7b0-\ud7c6]/;
const hangulFinal = /[\u11a8-\u11ff\ud7cb-\ud7fb]/;
const hangulSyllable = /[\uac00-\ud7a3]/;
const maxCombining = 5;

/** Marks line breaks too, and tabs unless they indent a line of their own. */
export function makeLineVisible(text: string, isOwnLine = false): string {
  if (plainAscii.test(text) && !text.includes(" ".repeat(maxSpaces))) return text;
  const chars = [...text];
  return markLine(chars, isOwnLine, findLookalikes(text));
}

/** Marks what cannot be seen, and the characters at the indexes in `lookalikes`. */
function markLine(
  chars: readonly string[],
  isOwnLine: boolean,
  lookalikes: ReadonlyMap<number, string>,
): string {
  let base = "";
  let run = 0;
  let isIndent = isOwnLine;
  let line = "";
  for (const [i, char] of chars.entries()) {
    const isBlank = char === " " || char === "\t";
    const isKept = isBlank
      ? i < chars.length - 1 && (char === " " || isIndent)
      : !lookalikes.has(i) && isVisibleAt(chars, i, base, run);
    line += isKept ? char : formatMark(char);
    if (char !== "\t" || i >= maxTabs) isIndent = false;
    const isCombining = combining.test(char);
    run = isCombining ? run + 1 : isKept && isJoiner(char) ? run : 0;
    if (!isCombining && !isJoiner(char)) base = isKept ? char : "";
  }
  return line.replace(manySpaces, (spaces) => `⟨${spaces.length} spaces⟩`);
}

/**
 * For text that another beckon has made visible, if it can be trusted: its marks and its rows stay as they are. What cannot be seen
 * nevertheless is marked.
 */
export function markInvisible(text: string): string {
  if (plainAscii.test(text)) return text;
  const chars = [...text];
  const isKept = (char: string, i: number) =>
    char === " " ||
    char === "\t" ||
    !invisible.test(char) ||
    drawnFormat.test(char) ||
    isNeededByScript(chars, i);
  return chars.map((char, i) => (isKept(char, i) ? char : formatMark(char))).join("");
}

/** Lists the code points of invisible characters, without blanks. */
export function findInvisible(text: string): readonly string[] {
  const lines = text
    .split("\n")
    .map((line) => (plainAscii.test(line) ? "" : markLine([...line], true, new Map())));
  const codes = new Set(lines.flatMap((line) => line.match(/(?<=⟨)U\+[0-9A-F]+(?=⟩)/g) ?? []));
  for (const harmless of ["U+0009", "U+0020", "U+27E8", "U+2937", "U+2E3A", "U+2E3B", "U+3000", "U+FDFD"])
    codes.delete(harmless);
  return [...codes];
}

/** Lists the characters that look like others: `U+2044 for /`. */
export function listLookalikes(text: string): readonly string[] {
  const forms = text.split("\n").flatMap((line) => {
    const found = findLookalikes(line);
    const chars = found.size === 0 ? [] : [...line];
    return [...found].map(([i, ascii]) => `${formatCode(chars[i] ?? "")} for ${ascii}`);
  });
  return [...new Set(forms)];
}

const formatMark = (char: string): string => `⟨${formatCode(char)}⟩`;

function formatCode(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

function isVisibleAt(chars: readonly string[], i: number, base: string, run: number): boolean {
  const char = chars[i] ?? "";
  // "⤷" at the start of a row means that it continues the row above.
  if (char === "⟨" || (char === "⤷" && i === 0) || oversized.test(char)) return false;
  if (invisible.test(char)) return drawnFormat.test(char) || isNeededByScript(chars, i);
  if (hangulVowel.test(char)) return hangulInitial.test(chars[i - 1] ?? "");
  if (hangulFinal.test(char)) return mayTakeFinal(chars, i - 1);
  if (!combining.test(char)) return true;
  if (char === "\u20e3") return chars[i - 1] === "\ufe0f" && keycap.test(chars[i - 2] ?? "");
  // It takes the place of the dot of an `i`, so nobody sees it. Lithuanian writes it before another accent.
  if (char === dotAbove && dottedLetter.test(base) && !combining.test(chars[i + 1] ?? "")) return false;
  // The marks that join Tifinagh, Brahmi or Tai Tham letters are not drawn on a Latin one.
  if (asciiLetter.test(base) && !inherited.test(char)) return false;
  return letter.test(base) && !overlay.test(char) && run < maxCombining;
}

/** 28 syllables follow each other for each vowel; only the first of them has no final yet. */
function mayTakeFinal(chars: readonly string[], i: number): boolean {
  const char = chars[i] ?? "";
  if (hangulSyllable.test(char)) return ((char.codePointAt(0) ?? 0) - 0xac00) % 28 === 0;
  return hangulVowel.test(char) && hangulInitial.test(chars[i - 1] ?? "");
}

const isJoiner = (char: string): boolean => char === "\u200c" || char === "\u200d";
const keycap = /^[0-9#*]$/;
const picture = /\p{Extended_Pictographic}/u;
const pictureEnd = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f/u;
const mongolian = /\p{Script=Mongolian}/u;
const virama =
  /[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1039\u17d2\u1b44\u{11046}\u{110b9}]/u;
const indic =
  /[\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Myanmar}\p{Script=Khmer}]/u;
const arabic = /[\p{Script=Arabic}]/u;
/** Letters that never join to the next one: a non-joiner after them changes nothing visible. */
const unjoined =
  /[\u0621-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0673\u0675-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\p{M}\p{P}\p{N}]/u;

/** Zero-width characters that a script needs: emoji, Persian, Indic scripts, Mongolian. */
function isNeededByScript(chars: readonly string[], i: number): boolean {
  const char = chars[i] ?? "";
  const before = chars[i - 1] ?? "";
  const after = chars[i + 1] ?? "";
  if (char === "\ufe0f" || char === "\ufe0e") {
    return picture.test(before) || (char === "\ufe0f" && keycap.test(before) && after === "\u20e3");
  }
  if (/[\u180b-\u180d\u180f]/.test(char)) return mongolian.test(before) && !invisible.test(before);
  if (!isJoiner(char)) return false;
  if (char === "\u200d" && pictureEnd.test(before) && picture.test(after)) return true;
  if (virama.test(before) && indic.test(after)) return true;
  if (indic.test(before) && virama.test(after)) return true;
  return arabic.test(before) && !unjoined.test(before) && arabic.test(after);
}

const rightToLeftLetters = String.raw`[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Samaritan}\p{Script=Mandaic}\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]`;
const rightToLeft = new RegExp(rightToLeftLetters, "u");
const reordered = new RegExp(
  `${rightToLeftLetters}[^\\p{L}\\n]{0,40}[=<>{}[\\]|&;/\\\\"'\`$#*+][^\\p{L}\\n]{0,40}${rightToLeftLetters}`,
  "u",
);

/** Right-to-left letters also reverse the characters between them: `rm א/ב` is shown as `rm ב/א`. null if there are none. */
export function findRightToLeft(text: string): string | null {
  return rightToLeft.exec(text)?.[0] ?? null;
}

/** Signs of a program between two right-to-left letters, which are shown in reverse. Plain sentences do not count. */
export function findReorderedSigns(text: string): string | null {
  return reordered.exec(text)?.[0] ?? null;
}
