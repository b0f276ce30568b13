/** Text of strangers made fit for a menu: one line, and nothing in it that hides, steers or turns round what stands beside it. */

const maxLooked = 2_000;

export function toSingleLine(text: string): string {
  return (
    text
      .slice(0, maxLooked)
      .toWellFormed()
      .normalize("NFC")
      // Terminal sequences whole: without its ESC, the rest of one is litter.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach a menu
      .replace(/\u001b(?:\[[0-9:;<=>?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g, "")
      // Marks of direction, tags and blanks without width. The joiners stay: emoji and Persian are written with them.
      .replace(
        /[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff\u{e0000}-\u{e007f}]/gu,
        "",
      )
      .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
      // A tower of accents reaches into the lines above.
      .replace(/(\p{M}{3})\p{M}+/gu, "$1")
      .replace(/(\u200d)[\u200c\u200d]+/g, "$1")
      .trim()
  );
}

/** Two columns, near enough: a menu's letters are of many widths. */
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2630-\u2637\u268a-\u268f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe10-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16f00}-\u{3fffd}]/u;
const spacingMarks = /\p{Mc}/gu;
/** Emoji families are 11 long; a longer cluster was made to fill the menu. */
const maxCluster = 16;
const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

interface Cluster {
  readonly text: string;
  readonly width: number;
}

function clusters(text: string): Cluster[] {
  return [...segmenter.segment(text)].map(({ segment }) => ({
    text: segment.slice(0, maxCluster).toWellFormed(),
    width: (wide.test(segment) ? 2 : 1) + (segment.match(spacingMarks)?.length ?? 0),
  }));
}

const total = (list: readonly Cluster[]): number => list.reduce((sum, { width }) => sum + width, 0);
const joined = (list: readonly Cluster[]): string => list.map(({ text }) => text).join("");

function fitting(list: readonly Cluster[], width: number): Cluster[] {
  let used = 0;
  const end = list.findIndex((cluster) => {
    used += cluster.width;
    return used > width;
  });
  return end === -1 ? [...list] : list.slice(0, end);
}

export function measureWidth(text: string): number {
  return total(clusters(text));
}

/** The beginning of it, up to the end of a word where one ends near by. */
export function truncateEnd(text: string, width: number): string {
  const all = clusters(toSingleLine(text));
  if (total(all) <= width) return joined(all);
  const kept = joined(fitting(all, Math.max(0, width - 1)));
  const word = kept.replace(/[\s,;:.·–—-]+\S*$/u, "");
  const isNear = word.length >= kept.length * 0.7;
  return `${(isNear ? word : kept).trimEnd()}…`;
}

/** Its beginning and its end: names that differ at all mostly differ at one of them. */
export function truncateMiddle(text: string, width: number): string {
  const all = clusters(toSingleLine(text));
  if (total(all) <= width) return joined(all);
  const room = Math.max(0, width - 1);
  const end = fitting(all.toReversed(), Math.floor(room / 2)).toReversed();
  const start = fitting(all, room - total(end));
  return `${joined(start).trimEnd()}…${joined(end).trimStart()}`;
}

/** What the model said begins so: the first line that says anything, without its Markdown. */
export function extractFirstLine(text: string | null): string {
  const line = text?.split("\n").find((part) => part.trim() !== "") ?? "";
  return line.replace(/\*\*|__|`/g, "").replace(/^\s*#+\s+/, "");
}
