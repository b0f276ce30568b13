/** How many columns a text takes, estimated without a terminal or font: menus are proportional. The terminal has Bun.stringWidth. */

/** About two columns wide. */
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2630-\u2637\u268a-\u268f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe10-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16f00}-\u{3fffd}]/u;

export const isWide = (text: string): boolean => wide.test(text);

const spacingMarks = /\p{Mc}/gu;
/** Emoji families have 11 code units. A longer cluster was made to fill the menu. */
const maxCluster = 16;
let segmenter: Intl.Segmenter | null = null;

/** What a reader takes for one character. */
export interface Cluster {
  readonly text: string;
  readonly width: number;
}

export function splitClusters(text: string): Cluster[] {
  // Made when it is needed: it loads tables of the system's, in each thread.
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return [...segmenter.segment(text)].map(({ segment }) => ({
    text: segment.slice(0, maxCluster).toWellFormed(),
    width: (isWide(segment) ? 2 : 1) + (segment.match(spacingMarks)?.length ?? 0),
  }));
}

export const sumWidth = (list: readonly Cluster[]): number => list.reduce((sum, { width }) => sum + width, 0);

export const measureWidth = (text: string): number => sumWidth(splitClusters(text));
