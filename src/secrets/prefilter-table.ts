/**
 * Computes the table of the prefilter from the hints of the rules. It runs when beckon is built (prefilter.ts imports it as a
 * macro): it takes 30 ms, and a hook that writes the spool needs the table too.
 */
import { hashTriple, packWord, tripleCount } from "./hash.ts";
import { rules } from "./rules.ts";

const wordLength = 4;
/** More spellings of one hint would be found in any text. */
const maxSpellings = 1_000;
const wordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
/** In English, code and JSON, the most common first. */
const commonPairs = [
  ..."e /th/ t/he/s /in/er/ a/d /an/re/t /on/st/es/en/at/or/te/ti/ed/nd/y / s/to/se/ar/al/it/is/nt/le/ro/io/ng/me/ra/co/de/ri".split(
    "/",
  ),
  ...'ta/ne/ce/om/si/li/la/ve/as/so/ p/ c/ec/fi/ma/et/pr/ss/ha/el/ea/ou/ic/us/ca/il/tr/di/lo/_i/id/":/,"/"t/e"/t"/d"/00/ch/no'.split(
    "/",
  ),
];

const pairCosts: ReadonlyMap<string, number> = new Map(
  commonPairs.map((pair, rank) => [pair, commonPairs.length - rank + 20]),
);

/** The index of the expression that has to match where a word is found, and the distance from its start to the word. */
export type Confirmation = readonly [expression: number, offset: number];

/** Made of what JavaScript can read at once: every hook that writes the spool does. */
export interface FilterTable {
  /** Words of four characters, packed, that need no confirmation. */
  readonly words: readonly number[];
  /** Words that need one of several confirmations. Most words are spellings of another, and share its list. */
  readonly wordsToConfirm: readonly (readonly [
    confirmations: readonly Confirmation[],
    words: readonly number[],
  ])[];
  /** In base64: for the hash of three characters 1 if a word starts with them, 2 if a word ends with them. */
  readonly triples: string;
  /** Texts of any length, and the index of the expression that confirms each. */
  readonly texts: readonly (readonly [text: string, expression: number])[];
  /** Source and flags. */
  readonly expressions: readonly (readonly [source: string, flags: string])[];
}

/** The FilterTable as JSON: a macro takes much longer for the object itself. */
export function computeTable(): string {
  const hints = [...new Set(rules.flatMap((rule) => rule.hints))];
  const expressions: [string, string][] = [];
  const texts: [string, number][] = [];
  const words = new Map<string, Confirmation[]>();
  const addExpression = ({ source, flags }: RegExp): number => expressions.push([source, flags]) - 1;
  for (const hint of hints) {
    if (typeof hint === "string") addWords(words, hint, null);
    else if ("includes" in hint) texts.push([hint.includes, addExpression(hint.confirm)]);
    else addWords(words, hint.word, addExpression(hint.near));
  }
  const packed = [...words].map(([word, confirmations]) => [packWord(word, 0), confirmations] as const);
  const table: FilterTable = {
    words: packed.filter(([, confirmations]) => confirmations.length === 0).map(([word]) => word),
    wordsToConfirm: groupWords(packed.filter(([, confirmations]) => confirmations.length > 0)),
    triples: Buffer.from(computeTriples([...words.keys()])).toString("base64"),
    texts,
    expressions,
  };
  return JSON.stringify(table);
}

function groupWords(
  packed: readonly (readonly [word: number, confirmations: readonly Confirmation[]])[],
): FilterTable["wordsToConfirm"] {
  const groups = Map.groupBy(packed, ([, confirmations]) => JSON.stringify(confirmations));
  return [...groups.values()].map((group) => [group[0]?.[1] ?? [], group.map(([word]) => word)]);
}

function computeTriples(words: readonly string[]): Uint8Array {
  const triples = new Uint8Array(tripleCount);
  for (const word of words) {
    for (let at = 0; at < 2; at++) {
      const triple = hashTriple(word.charCodeAt(at), word.charCodeAt(at + 1), word.charCodeAt(at + 2));
      triples[triple] = (triples[triple] ?? 0) | (1 << at);
    }
  }
  return triples;
}

function addWords(words: Map<string, Confirmation[]>, pattern: string, expression: number | null): void {
  const places = parsePlaces(pattern);
  const offset = chooseWindow(places, pattern);
  for (const spelling of spellOut(places.slice(offset, offset + wordLength))) {
    const known = words.get(spelling);
    if (expression === null || known?.length === 0) words.set(spelling, []);
    else words.set(spelling, [...(known ?? []), [expression, offset]]);
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
