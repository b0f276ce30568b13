/**
 * A number as words that two people can read to each other. Each word stands for 16 bits: consonants and vowels in turn, so that it can be
 * spoken in any language and needs no list of words.
 */
const consonants = "bdfghjklmnprstvz";
const vowels = "aiou";

function speak(bits: number): string {
  const consonant = (shift: number) => consonants[(bits >> shift) & 15];
  const vowel = (shift: number) => vowels[(bits >> shift) & 3];
  return `${consonant(12)}${vowel(10)}${consonant(6)}${vowel(4)}${consonant(0)}`;
}

/** Six words of the first 96 bits. */
export function sayWords(hash: Uint8Array): string {
  const view = new DataView(hash.buffer, hash.byteOffset, hash.byteLength);
  return Array.from({ length: 6 }, (_, n) => speak(view.getUint16(2 * n))).join(" ");
}
