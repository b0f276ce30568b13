/** How the prefilter names parts of a text by numbers. */

export const tripleCount = 1 << 15;

/** The same for capital and small letters. Different triples can have the same hash: then the test is less exact. */
export function hashTriple(first: number, second: number, third: number): number {
  return (((first | 32) * 961) ^ ((second | 32) * 57) ^ (third | 32)) & (tripleCount - 1);
}

/** Four characters. */
export function packWord(text: string, at: number): number {
  return (
    (text.charCodeAt(at) << 24) ^
    (text.charCodeAt(at + 1) << 16) ^
    (text.charCodeAt(at + 2) << 8) ^
    text.charCodeAt(at + 3)
  );
}
