/**
 * A first look at an event's text: could any secret begin in it? Nearly always the answer is no, after reading less than
 * half of the characters (Wu and Manber's way of looking for many words at once). Sixteen expressions took four times as long.
 */

/** Of every secret that is known four characters, any of which it must have. `[…]`: one of these; `*`: a letter or digit. */
const quarters = [
  ...["AIza", "A[KS]IA", "eyJ*", "eyJ[_-]", "gh[pousr]_", "npm_", "xapp", "xox*", "sk-*", "k_li", "k_te"],
  ...["glpa", "pat_", "hvs.", "dop_", "SG.*", "SG.[_-]", "pypi", "hf_*", "curl"],
  ...["[aA][sS][sS][wW]", "_[pP][aA][sS]", "_[pP][wW][dD]", "[eE][cC][rR][eE]", "[rR][iI][zZ][aA]"],
  ...["[eE][aA][rR][eE]", "[kK][eE][yYnN][ =:\"'_0123456789-]", "[kK][eE][yYnN]\\"],
];

const lettersAndDigits = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"];

function spellOut(pattern: string): string[] {
  const places = pattern.match(/\[[^\]]*\]|./gs) ?? [];
  return places.reduce<string[]>(
    (begun, place) => {
      const choices = place === "*" ? lettersAndDigits : place.length > 1 ? [...place.slice(1, -1)] : [place];
      return begun.flatMap((start) => choices.map((next) => start + next));
    },
    [""],
  );
}

const words = quarters.flatMap(spellOut);
const asNumber = (text: string, at: number): number =>
  (text.charCodeAt(at) << 24) ^
  (text.charCodeAt(at + 1) << 16) ^
  (text.charCodeAt(at + 2) << 8) ^
  text.charCodeAt(at + 3);
const known: ReadonlySet<number> = new Set(words.map((word) => asNumber(word, 0)));

/** Which pairs of characters are the first (1), the middle (2) or the last (4) pair of a word. Beyond ASCII: as if within it. */
const pairs = new Uint8Array(1 << 14);
const pairAt = (text: string, at: number): number =>
  ((text.charCodeAt(at) & 127) << 7) | (text.charCodeAt(at + 1) & 127);
for (const word of words) {
  for (let at = 0; at < 3; at++) {
    const pair = pairAt(word, at);
    pairs[pair] = (pairs[pair] ?? 0) | (1 << at);
  }
}

/** Of the three pairs that a word has, one begins at every third character. */
export function mayHoldBeginning(text: string, from = 0): boolean {
  const last = text.length - 1;
  for (let at = from; at < last; at += 3) {
    const pair = pairs[pairAt(text, at)] ?? 0;
    if (pair !== 0 && isBeginning(text, at, pair)) return true;
  }
  return false;
}

/** A word has its first pair here and its last two further on, or its last here and its first two back, or lies in between. */
function isBeginning(text: string, at: number, pair: number): boolean {
  return (
    ((pair & 1) !== 0 && isWord(text, at)) ||
    ((pair & 2) !== 0 && at >= 1 && isWord(text, at - 1)) ||
    ((pair & 4) !== 0 && at >= 2 && isWord(text, at - 2))
  );
}

function isWord(text: string, at: number): boolean {
  const first = pairs[pairAt(text, at)] ?? 0;
  const last = pairs[pairAt(text, at + 2)] ?? 0;
  return (first & 1) !== 0 && (last & 4) !== 0 && known.has(asNumber(text, at));
}
