/**
 * A quick test whether a text can contain a secret, computed from the hints of the rules. Nearly always it cannot, and then
 * nothing else was read than the hashes of three characters each.
 */
import type { SecretHint } from "./hints.ts";
import { rules } from "./rules.ts";

const wordLength = 4;
/** More spellings of one hint would be found in any text. */
const maxSpellings = 1_000;
const wordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
/** In English, code and JSON, the most common first. */
const commonPairs = [
  ...[
    "e ",
    "th",
    " t",
    "he",
    "s ",
    "in",
    "er",
    " a",
    "d ",
    "an",
    "re",
    "t ",
    "on",
    "st",
    "es",
    "en",
    "at",
    "or",
    "te",
    "ti",
  ],
  ...[
    "ed",
    "nd",
    "y ",
    " s",
    "to",
    "se",
    "ar",
    "al",
    "it",
    "is",
    "nt",
    "le",
    "ro",
    "io",
    "ng",
    "me",
    "ra",
    "co",
    "de",
    "ri",
  ],
  ...[
    "ta",
    "ne",
    "ce",
    "om",
    "si",
    "li",
    "la",
    "ve",
    "as",
    "so",
    " p",
    " c",
    "ec",
    "fi",
    "ma",
    "et",
    "pr",
    "ss",
    "ha",
    "el",
  ],
  ...[
    "ea",
    "ou",
    "ic",
    "us",
    "ca",
    "il",
    "tr",
    "di",
    "lo",
    "_i",
    "id",
    '":',
    ',"',
    '"t',
    'e"',
    't"',
    'd"',
    "00",
    "ch",
    "no",
  ],
];

const pairCosts: ReadonlyMap<string, number> = new Map(
  commonPairs.map((pair, rank) => [pair, commonPairs.length - rank + 20]),
);

/** A word of four characters, found in a text, and what has to match there. */
interface Confirmation {
  readonly near: RegExp;
  /** From the start of `near` to the word. */
  readonly offset: number;
}

const hints = [...new Set(rules.flatMap((rule) => rule.hints))];
const otherHints = hints.filter((hint) => typeof hint === "object" && "includes" in hint);
/** For each word any of these has to match, or nothing more if there are none. */
const words = new Map<string, Confirmation[]>();
for (const hint of hints) addWords(hint);
const packedWords: ReadonlyMap<number, readonly Confirmation[]> = new Map(
  [...words].map(([word, confirmations]) => [packWord(word, 0), confirmations]),
);
/** By the hash of three characters: 1 if a word starts with them, 2 if a word ends with them. */
const triples = new Uint8Array(1 << 15);
for (const word of words.keys()) {
  for (let at = 0; at < 2; at++) {
    const triple = hashTriple(word.charCodeAt(at), word.charCodeAt(at + 1), word.charCodeAt(at + 2));
    triples[triple] = (triples[triple] ?? 0) | (1 << at);
  }
}

/** For plain text and JSON text. */
export function mayContainSecret(text: string, from = 0): boolean {
  if (containsWord(text, from)) return true;
  for (const { includes, confirm } of otherHints) {
    if (text.includes(includes, from) && confirm.test(text)) return true;
  }
  return false;
}

/** One of a word's two triples starts at every second character. */
function containsWord(text: string, from: number): boolean {
  const last = text.length - 2;
  let first = text.charCodeAt(from);
  for (let at = from; at < last; at += 2) {
    const third = text.charCodeAt(at + 2);
    const triple = triples[hashTriple(first, text.charCodeAt(at + 1), third)] ?? 0;
    if (triple !== 0 && isPartOfWord(text, at, triple)) return true;
    first = third;
  }
  return false;
}

function isPartOfWord(text: string, at: number, triple: number): boolean {
  return ((triple & 1) !== 0 && isWord(text, at)) || ((triple & 2) !== 0 && at >= 1 && isWord(text, at - 1));
}

function isWord(text: string, at: number): boolean {
  const confirmations = packedWords.get(packWord(text, at));
  if (confirmations === undefined) return false;
  return (
    confirmations.length === 0 || confirmations.some(({ near, offset }) => matchesAt(near, text, at - offset))
  );
}

function matchesAt(sticky: RegExp, text: string, at: number): boolean {
  sticky.lastIndex = Math.max(0, at);
  return at >= 0 && sticky.test(text);
}

/** The same for capital and small letters. Different triples can have the same hash: then the test is less exact. */
function hashTriple(first: number, second: number, third: number): number {
  return (((first | 32) * 961) ^ ((second | 32) * 57) ^ (third | 32)) & 0x7fff;
}

function packWord(text: string, at: number): number {
  return (
    (text.charCodeAt(at) << 24) ^
    (text.charCodeAt(at + 1) << 16) ^
    (text.charCodeAt(at + 2) << 8) ^
    text.charCodeAt(at + 3)
  );
}

function addWords(hint: SecretHint): void {
  if (typeof hint === "object" && "includes" in hint) return;
  const { word, near } = typeof hint === "string" ? { word: hint, near: null } : hint;
  const places = parsePlaces(word);
  const offset = chooseWindow(places, word);
  for (const spelling of spellOut(places.slice(offset, offset + wordLength))) {
    const known = words.get(spelling);
    if (near === null || known?.length === 0) words.set(spelling, []);
    else words.set(spelling, [...(known ?? []), { near, offset }]);
  }
}

/** The four places whose pairs are rarest in ordinary text. */
function chooseWindow(places: readonly string[], pattern: string): number {
  let best = -1;
  let leastCost = Number.POSITIVE_INFINITY;
  for (let at = 0; at + wordLength <= places.length; at++) {
    const window = places.slice(at, at + wordLength);
    if (window.reduce((product, choices) => product * choices.length, 1) > maxSpellings) continue;
    const cost = costOf(window);
    if (cost >= leastCost) continue;
    best = at;
    leastCost = cost;
  }
  if (best < 0) throw new Error(`the hint ${pattern} has no ${wordLength} characters that are rare enough`);
  return best;
}

function costOf(window: readonly string[]): number {
  let cost = 0;
  for (let at = 0; at + 1 < window.length; at++) {
    for (const first of window[at] ?? "") {
      for (const second of window[at + 1] ?? "") cost += pairCosts.get(first + second) ?? 1;
    }
  }
  return cost;
}

function spellOut(places: readonly string[]): string[] {
  return places.reduce<string[]>(
    (words, choices) => words.flatMap((word) => [...choices].map((choice) => word + choice)),
    [""],
  );
}

/** The characters that the pattern can match at each place, as far as it is a simple one. */
function parsePlaces(pattern: string): string[] {
  const places: string[] = [];
  for (const [part, least, most] of pattern.matchAll(/\{(\d+)(,?\d*)\}|\[(?:\\.|[^\]\\])*\]|\\.|[^\\]/gs)) {
    if (least !== undefined) {
      const choices = places.at(-1) ?? "";
      for (let time = 1; time < Math.min(Number(least), wordLength); time++) places.push(choices);
      if (most !== "" || Number(least) > wordLength) break;
    } else if (/^[(|)?*+.^$]/.test(part)) {
      // A repetition is about the place before it.
      if (/^[?*]/.test(part)) places.pop();
      break;
    } else {
      places.push(choicesOf(part));
    }
  }
  return places;
}

function choicesOf(part: string): string {
  if (part.startsWith("[")) return [...part.slice(1, -1).matchAll(/(.)-(.)|\\?./gs)].map(spellRange).join("");
  if (part === "\\w") return wordCharacters;
  return part.startsWith("\\") ? part.slice(1) : part;
}

function spellRange([part, first, last]: RegExpExecArray): string {
  // In brackets every other character stands for itself.
  if (first === undefined || last === undefined) return part.length === 1 ? part : choicesOf(part);
  const start = first.charCodeAt(0);
  const codes = Array.from({ length: last.charCodeAt(0) - start + 1 }, (_, index) => start + index);
  return String.fromCharCode(...codes);
}
