/**
 * A quick test whether a text can contain a secret, computed from the hints of the rules. Nearly always it cannot, and then
 * only every third character was read.
 */
import { nameHints, rules } from "./rules.ts";

const hintLength = 4;
const wordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

const hints = [...rules.flatMap((rule) => rule.hints), ...nameHints];
const words = hints.flatMap((hint) => (typeof hint === "string" ? spellOut(hint) : []));
const otherHints = hints.filter((hint) => typeof hint === "object");
const packedWords: ReadonlySet<number> = new Set(words.map((word) => packWord(word, 0)));
/** For each pair of characters: 1 if a word starts with it, 2 if it is in the middle of one, 4 if a word ends with it. */
const pairs = new Uint8Array(1 << 14);
for (const word of words) {
  for (let at = 0; at < hintLength - 1; at++) {
    const pair = packPair(word, at);
    pairs[pair] = (pairs[pair] ?? 0) | (1 << at);
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

/** One of a word's three pairs starts at every third character. */
function containsWord(text: string, from: number): boolean {
  const last = text.length - 1;
  for (let at = from; at < last; at += 3) {
    const pair = pairs[packPair(text, at)] ?? 0;
    if (pair !== 0 && isPartOfWord(text, at, pair)) return true;
  }
  return false;
}

function isPartOfWord(text: string, at: number, pair: number): boolean {
  return (
    ((pair & 1) !== 0 && isWord(text, at)) ||
    ((pair & 2) !== 0 && at >= 1 && isWord(text, at - 1)) ||
    ((pair & 4) !== 0 && at >= 2 && isWord(text, at - 2))
  );
}

function isWord(text: string, at: number): boolean {
  const first = pairs[packPair(text, at)] ?? 0;
  const last = pairs[packPair(text, at + 2)] ?? 0;
  return (first & 1) !== 0 && (last & 4) !== 0 && packedWords.has(packWord(text, at));
}

/** Characters beyond ASCII count as some ASCII character: then the test is less exact, but misses nothing. */
function packPair(text: string, at: number): number {
  return ((text.charCodeAt(at) & 127) << 7) | (text.charCodeAt(at + 1) & 127);
}

function packWord(text: string, at: number): number {
  return (
    (text.charCodeAt(at) << 24) ^
    (text.charCodeAt(at + 1) << 16) ^
    (text.charCodeAt(at + 2) << 8) ^
    text.charCodeAt(at + 3)
  );
}

/** Every text of four characters that the start of the pattern can match. */
function spellOut(pattern: string): string[] {
  let words = [""];
  let choices = "";
  for (const [place, repeat] of pattern.matchAll(/\{(\d+),\}|\[(?:\\.|[^\]\\])*\]|\\.|[^\\]/gs)) {
    const times = repeat === undefined ? 1 : Number(repeat) - 1;
    if (repeat === undefined) choices = choicesOf(place);
    for (let time = 0; time < times && words[0]?.length !== hintLength; time++) {
      words = words.flatMap((word) => [...choices].map((choice) => word + choice));
    }
    if (words[0]?.length === hintLength) return words;
  }
  throw new Error(`the hint ${pattern} is shorter than ${hintLength} characters`);
}

function choicesOf(place: string): string {
  if (place.startsWith("["))
    return [...place.slice(1, -1).matchAll(/(.)-(.)|\\?./gs)].map(spellRange).join("");
  if (place === "\\w") return wordCharacters;
  if (place.startsWith("\\")) return place.slice(1);
  if (/[(|)?*+.^$]/.test(place)) throw new Error(`a hint cannot contain ${place}`);
  return place;
}

function spellRange([place, first, last]: RegExpExecArray): string {
  if (first === undefined || last === undefined) return choicesOf(place);
  const start = first.charCodeAt(0);
  const codes = Array.from({ length: last.charCodeAt(0) - start + 1 }, (_, index) => start + index);
  return String.fromCharCode(...codes);
}
