/**
 * Characters that look like ASCII where a reader takes them for it: `scripts⁄build.js` is one file name, not a folder and a
 * file. Words of another script stay as they are: a letter counts only in a word that also has Latin letters, or if a word of
 * nothing but lookalikes stands where a program, a path or a host is named; a sign counts only where it touches ASCII.
 *
 * The tables are a selection of Unicode's confusables (UTS #39): letters, digits, and the signs that shells, paths and addresses
 * use. Typographic quotes, "…", "—", "·" and "×" are not in it: people write them every day.
 */

/** Marked wherever it touches ASCII. */
const technicalSigns: Readonly<Record<string, string>> = {
  "/": "\u2044\u2215\u29f8\u27cb\u2571\u3033\u1735\u2041\u2cc6\u2f03\u31d3\u{1d23a}",
  "\\": "\u29f5\u29f9\u2216\u27cd\u2572\u2f02\u31d4\u{1d20f}\u{1d23b}",
  ".": "\u2024\ua4f8\ua60e\u{10a50}",
  ":": "\u02d0\u02f8\u0589\u205a\u2236\ua789\ua4fd\u16ec\u1803\u1809\ufe30",
  ";": "\u037e\ua4fc",
  ",": "\ua4f9",
  "*": "\u204e\u2217\u066d\u{1031f}",
  "!": "\u01c3\u2d51",
  "=": "\ua78a\u1400\u2e40\u30a0\ua4ff",
  _: "\u02cd\ufe4d\ufe4e\ufe4f",
  "^": "\u02c4\u02c6",
  "`": "\u02cb\u2035\u1fef",
  "+": "\u16ed\u{1029b}",
  "%": "\u2052",
  "(": "\u2768\ufd3e",
  ")": "\u2769\ufd3f",
  "{": "\u2774",
  "}": "\u2775",
  "..": "\u2025\ua4fa",
  "//": "\u2afd",
  "==": "\u2a75",
  "\\\\": "\u244a\u2cf9",
};
/** Between words: a reader sees `cat x | sh`. */
const operators: Readonly<Record<string, string>> = {
  "|": "\uff5c\u2223\u01c0\uffe8\uffe4\u2502\u23d0\u2758",
  ">": "\uff1e\u02c3\ufe65\u1433",
  "<": "\uff1c\u02c2\ufe64\u1438\u16b2",
  "&": "\uff06\ufe60\ua778",
  "||": "\u01c1",
};
const dashes = "\u2010\u2011\u2012\u2013\u2212\u02d7\u2043\ufe58\ufe63\uff0d\u2cba";
/** Letters of East Asian scripts that are a single stroke. */
const strokes: Readonly<Record<string, string>> = {
  "/": "\u30ce\uff89\u4e3f",
  "-": "\u30fc\uff70\u4e00\u3161",
  "|": "\u3163\u4e28",
  "\\": "\u4e36",
};
const tildes = "\uff5e\u223c\u02dc\u2053\u301c\u1fc0";
/** Wide forms that are part of paths and names. In East Asian text they also stand between words. */
const widePathSigns =
  "\uff0f\uff3c\uff0e\uff3f\uff1d\uff20\uff04\uff0a\uff02\uff07\uff40\uff3e\ufe52\ufe68\ufe66\ufe6b\ufe69\ufe61";
/** All other wide forms: people write them in East Asian sentences. */
const wideSign = /^[\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff5e\ufe50-\ufe6b\u3002\uff61]$/;

/** Letters of other scripts, and Latin letters that no everyday language writes, by the ASCII letter that they look like. */
const letters: Readonly<Record<string, string>> = {
  a: "\u0430\u03b1\u0251",
  b: "\u044c\u13cf",
  c: "\u0441\u03f2\u1d04\u2ca5",
  d: "\u0501\u13e7",
  e: "\u0435\u04bd",
  g: "\u0261\u0581",
  h: "\u04bb\u0570\u13c2",
  i: "\u0456\u03b9",
  j: "\u0458\u03f3",
  k: "\u043a\u03ba",
  l: "\u04cf\u01c0",
  m: "\u043c",
  n: "\u0578\u057c",
  o: "\u043e\u03bf\u0585\u2c9f\u1d0f\u10ff",
  p: "\u0440\u03c1\u2ca3",
  q: "\u051b\u0563",
  r: "\u0433\u1d26",
  s: "\u0455\ua731",
  t: "\u0442\u03c4",
  u: "\u057d\u03c5\u1d1c",
  v: "\u0475\u03bd\u1d20",
  w: "\u051d\u0461\u1d21",
  x: "\u0445\u03c7",
  y: "\u0443\u04af\u03b3\u1eff",
  z: "\u1d22",
  A: "\u0410\u0391\u13aa\ua4ee",
  B: "\u0412\u0392\u13f4\ua4d0",
  C: "\u0421\u03f9\u13df\ua4da",
  D: "\u13a0\ua4d3",
  E: "\u0415\u0395\u13ac\ua4f0",
  F: "\u03dc\ua4dd",
  G: "\u050c\u13c0\ua4d6",
  H: "\u041d\u0397\u13bb\ua4e7",
  I: "\u0406\u0399\u04c0\ua4f2",
  J: "\u0408\u037f\u13ab\ua4d9",
  K: "\u041a\u039a\u13e6\ua4d7",
  L: "\u13de\ua4e1",
  M: "\u041c\u039c\u13b7\ua4df",
  N: "\u039d\ua4e0",
  O: "\u041e\u039f\u0555\ua4f3",
  P: "\u0420\u03a1\u13e2\ua4d1",
  Q: "\u051a",
  R: "\u13a1\ua4e3",
  S: "\u0405\u054f\u13da\ua4e2",
  T: "\u0422\u03a4\u13a2\ua4d4",
  U: "\u054d\ua4f4",
  V: "\u0474\u13d9\ua4e6",
  W: "\u051c\u13b3\ua4ea",
  X: "\u0425\u03a7\ua4eb",
  Y: "\u0423\u03a5\u04ae\ua4ec",
  Z: "\u0396\u13c3\ua4dc",
  "0": "\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0e50\u0ed0\u1040\u3007",
  "3": "\u0417\u04e0\u01b7\u021d",
  "6": "\u0431",
};
/** The same in scripts and old forms of letters that hardly anybody writes, or never beside Latin letters. */
const rareLetters: Readonly<Record<string, string>> = {
  A: "\u15c5\u{102a0}\u{16f40}",
  B: "\u15f7\ua7b4\u{10282}\u{102a1}\u{10301}",
  C: "\u2ca4\u{102a2}\u{10302}\u{10415}\u{1051c}\u{118e9}\u{118f2}",
  D: "\u15de\u15ea",
  E: "\u2d39\u{10286}\u{118a6}\u{118ae}",
  F: "\u15b4\ua798\u{10287}\u{102a5}\u{10525}\u{118a2}\u{118c2}",
  G: "\u13f3",
  H: "\u157c\u2c8e\u{102cf}",
  J: "\u148d\ua7b2",
  K: "\u16d5\u2c94\u{10518}",
  L: "\u14aa\u2cd0\u{1041b}\u{10526}\u{118a3}\u{118b2}\u{16f16}",
  M: "\u03fa\u15f0\u16d6\u2c98\u{102b0}\u{10311}",
  N: "\u2c9a\u{10513}",
  O: "\u0b20\u12d0\u2c9e\u2d54\u{10292}\u{102ab}\u{10404}\u{104c2}\u{10516}\u{114d0}\u{118b5}\u{118e0}",
  P: "\u146d\u2ca2\u{10295}",
  Q: "\u2d55",
  R: "\u01a6\u13d2\u1587\u{104b4}\u{16f35}",
  S: "\u13d5\u{10296}\u{10420}\u{16f3a}",
  T: "\u2ca6\u{10297}\u{102b1}\u{10315}\u{118bc}\u{16f0a}",
  U: "\u1200\u144c\u{104ce}\u{118b8}\u{16f42}",
  V: "\u142f\u2d38\ua6df\u{1051d}\u{118a0}\u{16f08}",
  W: "\u13d4\u{118e6}\u{118ef}",
  X: "\u16b7\u2cac\u2d5d\ua7b3\u{10290}\u{102b4}\u{10317}\u{10322}\u{10527}\u{118ec}",
  Y: "\u03d2\u13a9\u13bd\u2ca8\u{102b2}\u{118a4}\u{16f43}",
  Z: "\u{102f5}\u{118a9}\u{118e5}",
  b: "\u0184\u042c\u1472\u15af",
  c: "\uabaf\u{1043d}",
  d: "\u146f\ua4d2",
  e: "\uab32",
  f: "\u0584\u1e9d\ua799\uab35",
  g: "\u018d\u1d83",
  i: "\u037a\u13a5\u1fbe\ua647\uab75\u{118c3}\u{1d6a4}",
  l: "\u0196\u16c1\u2c92\u2d4f\u{1028a}\u{10309}\u{10320}\u{16f28}",
  m: "\u{11700}\u{118e3}",
  o: "\u0d20\u101d\u1d11\uab3d\u{1042c}\u{104ea}\u{118c8}\u{118d7}",
  p: "\u03f1",
  q: "\u0566",
  r: "\u2c85\uab47\uab48\uab81",
  s: "\u01bd\uabaa\u{10448}\u{118c1}",
  u: "\ua79f\uab4e\uab52\u{104f6}\u{118d8}",
  v: "\uaba9\u{11706}\u{118c0}",
  w: "\u0561\uab83\u{1170a}\u{1170e}\u{1170f}",
  x: "\u1541\u157d",
  y: "\u10e7\u1d8c\uab5a\u{118dc}",
  z: "\uab93\u{118c4}",
  "2": "\u01a7\u03e8\u14bf\ua644\ua6ef\ua75a",
  "3": "\u021c\u2ccc\ua76a\ua7ab\u{118ca}\u{16f3b}",
  "4": "\u13ce\u{118af}",
  "5": "\u01bc\u{118bb}",
  "6": "\u13ee\u2cd2\u{118d5}",
  "7": "\u{104d2}\u{118c6}",
  "8": "\u0222\u0223\u09ea\u0a6a\u{1031a}",
  "9": "\u09ed\u0a67\u0b68\u0d6d\u2cca\ua76e\u{118ac}\u{118cc}\u{118d6}",
};
/** Alike only beside Latin letters: a word of these is read as what it is. */
const vagueLetter =
  /^[\u043a\u043c\u0433\u0442\u03ba\u03c4\u03b3\u0417\u0431\u044c\u042c\u0561\u0566\u0584\u0b20\u0d20\u101d\u10e7\u1200\u12d0]$/;

/** Forms of letters and digits that fonts draw alike: mathematical, of old computers, wide, Roman numerals, script letters, ligatures, long s. */
const mathematical = /^[\u{1d400}-\u{1d7ff}\u{1fbf0}-\u{1fbf9}]$/u;
const wideLetter = /^[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]$/;
const romanNumeral = /^[\u2160-\u217f]$/;
const otherForm =
  /^[\u017f\u2102\u210a-\u2113\u2115\u2119-\u211d\u2124\u2128\u212a\u212c\u212d\u212f-\u2131\u2133\u2134\u2139\u2145-\u2149\ufb00-\ufb06]$/;

const invert = (table: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(table).flatMap(([ascii, alike]) => [...alike].map((char) => [char, ascii] as const)),
  );
const technical = invert(technicalSigns);
const operator = invert(operators);
const stroke = invert(strokes);
const letter = new Map([...invert(letters), ...invert(rareLetters)]);

const isAscii = (char: string | undefined): boolean => char !== undefined && /^[\x21-\x7e]$/.test(char);
const isAsciiWord = (char: string | undefined): boolean => char !== undefined && /^[A-Za-z0-9]$/.test(char);
const isDigit = (char: string | undefined): boolean => char !== undefined && /^[0-9]$/.test(char);
const isAsciiLetter = (char: string | undefined): boolean => char !== undefined && /^[A-Za-z]$/.test(char);
const eastAsian =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u;
const partOfName = /[\p{L}\p{N}\p{M}]/u;
/** A folder, an ending, an address, an option. */
const pathLike = /[/\\]|\.[A-Za-z0-9]{1,5}$|^[~-]/;

/** What may be a lookalike at all: most lines have none of these. */
const candidate = new RegExp(
  `[${[...technical.keys(), ...operator.keys(), ...stroke.keys(), ...letter.keys(), dashes, tildes].join("")}${[
    wideSign,
    wideLetter,
    mathematical,
    romanNumeral,
    otherForm,
  ]
    .map(({ source }) => source.slice(2, -2))
    .join("")}]`,
  "u",
);

/** Index of each lookalike, counted in code points → the ASCII that it looks like. `line` has no line break. */
export function findLookalikes(line: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  if (!candidate.test(line)) return found;
  const chars = [...line];
  const isEastAsian = eastAsian.test(line);
  const isArmenian = /\p{Script=Armenian}{2}/u.test(line);
  for (const { start, end } of splitRuns(chars, (char) => char !== " " && char !== "\t")) {
    const text = chars.slice(start, end).join("");
    if (!candidate.test(text)) continue;
    const word: Word = {
      ...{ chars, start, end, isEastAsian, isArmenian },
      hasEastAsian: eastAsian.test(text),
      isPath: pathLike.test(text),
    };
    for (let i = start; i < end; i++) {
      const ascii = findSign(word, i);
      if (ascii !== null) found.set(i, ascii);
    }
    for (const part of splitRuns(chars, (char) => partOfName.test(char), start, end))
      markLetters(word, part, found);
  }
  return found;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Word extends Span {
  readonly chars: readonly string[];
  /** Letters of the script are in the line, or in the word itself. */
  readonly isEastAsian: boolean;
  readonly isArmenian: boolean;
  readonly hasEastAsian: boolean;
  readonly isPath: boolean;
}

/** The runs of characters that belong together. */
function splitRuns(
  chars: readonly string[],
  belongs: (char: string) => boolean,
  from = 0,
  to = chars.length,
): readonly Span[] {
  const runs: Span[] = [];
  for (let i = from; i < to; i++) {
    if (!belongs(chars[i] ?? "")) continue;
    const start = i;
    while (i < to && belongs(chars[i] ?? "")) i++;
    runs.push({ start, end: i });
  }
  return runs;
}

/** The ASCII sign that this one is taken for. null if it is what it looks like. */
function findSign(word: Word, i: number): string | null {
  const { chars, hasEastAsian, isEastAsian } = word;
  const char = chars[i] ?? "";
  if (isAscii(char)) return null;
  const [before, after] = [chars[i - 1], chars[i + 1]];
  const touches = isAscii(before) || isAscii(after);
  const sign = technical.get(char);
  // `1⁄2`, `12∶30`, and the full stops of Armenian sentences
  if (sign !== undefined) {
    const isNumber = isDigit(before) && isDigit(after);
    return touches && !isNumber && !(word.isArmenian && /[.:]/.test(sign)) ? sign : null;
  }
  if (dashes.includes(char)) return isDash(word, i) ? "-" : null;
  if (tildes.includes(char))
    return after === "/" || (isAsciiLetter(before) && isAsciiLetter(after)) ? "~" : null;
  const between = operator.get(char);
  if (between !== undefined) return isOperator(word, i) ? between : null;
  const line = stroke.get(char);
  if (line !== undefined) {
    const isOption = line === "-" && i === word.start && isAsciiLetter(after);
    return isOption || (isAsciiWord(before) && isAsciiWord(after)) ? line : null;
  }
  if (!wideSign.test(char) || !touches) return null;
  const ascii = /^[\u3002\uff61]$/.test(char) ? "." : char.normalize("NFKC");
  if (!isEastAsian) return ascii;
  // `https：//`
  if (!widePathSigns.includes(char)) return /^[\uff1a\ufe55]$/.test(char) && after === "/" ? ascii : null;
  const isInName = hasEastAsian ? word.isPath : isAscii(before) && isAscii(after);
  return isInName ? ascii : null;
}

/** `–force`, `my–notes.md`, but not `London–Paris` or `3–5`. */
function isDash({ chars, start, isPath }: Word, i: number): boolean {
  const isSame = (char: string) => dashes.includes(char);
  const first = skip(chars, i - 1, -1, isSame);
  const next = chars[skip(chars, i + 1, 1, isSame)];
  const before = chars[first];
  if (first < start || /^["'`(=]$/.test(before ?? "")) return isAsciiLetter(next);
  return isAsciiWord(before) && isAsciiWord(next) && isPath;
}

function isOperator({ chars, isEastAsian }: Word, i: number): boolean {
  const char = chars[i] ?? "";
  if (isEastAsian && wideSign.test(char)) return false;
  // `│   ├── src`: a tree or a table.
  if (char === "\u2502" && chars.find((other) => other !== " ")?.match(/[\u2500-\u257f]/)) return false;
  const isBlank = (other: string) => other === " " || operator.has(other);
  return isAscii(chars[skip(chars, i - 1, -1, isBlank)]) && isAscii(chars[skip(chars, i + 1, 1, isBlank)]);
}

const maxSkipped = 40;

/** The index of the next character that is not skipped. */
function skip(
  chars: readonly string[],
  from: number,
  step: 1 | -1,
  isSkipped: (char: string) => boolean,
): number {
  let at = from;
  for (let n = 0; n < maxSkipped && at in chars && isSkipped(chars[at] ?? ""); n++) at += step;
  return at;
}

function markLetters(word: Word, { start, end }: Span, found: Map<number, string>): void {
  const part = word.chars.slice(start, end);
  const alike = part.map(findLetter);
  if (alike.every((ascii) => ascii === null)) return;
  const isMixed = part.some(isAsciiLetter);
  const isLatinOnly = part.every((char, n) => isAsciiWord(char) || alike[n] !== null);
  const isOnlyAlike = part.every(
    (char, n) => isDigit(char) || (alike[n] !== null && !vagueLetter.test(char)),
  );
  const isName = isOnlyAlike && isNamePosition(word, start, end);
  // `ⅽⅾ`: a numeral is one character.
  const isSpelled = part.length > 1 && part.every((char) => romanNumeral.test(char));
  for (const [n, ascii] of alike.entries()) {
    const char = part[n] ?? "";
    if (ascii === null) continue;
    const isMarked =
      mathematical.test(char) ||
      isName ||
      isSpelled ||
      (wideLetter.test(char) && !word.isEastAsian) ||
      (isMixed && !isNumbering(part, n) && (isLatinOnly || !isDigit(ascii)));
    if (isMarked) found.set(start + n, ascii);
  }
}

function findLetter(char: string): string | null {
  const ascii = letter.get(char);
  if (ascii !== undefined) return ascii;
  const isForm =
    mathematical.test(char) || wideLetter.test(char) || romanNumeral.test(char) || otherForm.test(char);
  if (!isForm) return null;
  const plain = char.normalize("NFKC");
  return /^[A-Za-z0-9]+$/.test(plain) ? plain : (letter.get(plain) ?? null);
}

/** `PhaseⅡ` */
const isNumbering = (part: readonly string[], n: number): boolean =>
  part.slice(n).every((char) => /^[\u2160-\u216b]$/.test(char));

/** Where a program, a path or a host is named: `/bin/X`, `X.com`, `X -r`, `ls; X -r`. */
function isNamePosition({ chars }: Word, start: number, end: number): boolean {
  const joins = /^[/\\.:@~]$/;
  if (joins.test(chars[start - 1] ?? "") && /^[\x20-\x7e]?$/.test(chars[start - 2] ?? "")) return true;
  if (joins.test(chars[end] ?? "") && isAsciiWord(chars[end + 1])) return true;
  // Programs have names in lower case. Greek has words of such letters only, like "ναι"; Russian ones have one letter.
  const name = chars.slice(start, end).join("");
  if (end - start < 2 || /[\p{Lu}\p{Script=Greek}]/u.test(name)) return false;
  const before = skip(chars, start - 1, -1, (char) => char === " " || char === "\t");
  if (before >= 0 && !/^[;|&(`{!]$/.test(chars[before] ?? "")) return false;
  return end === chars.length || (chars[end] === " " && isAscii(chars[end + 1]));
}
