/**
 * Text for users: cleaning, truncating, wrapping, making invisible characters visible, finding typos, paths, JSON text. Pure
 * functions on strings that know nothing about sessions.
 *
 * This file makes untrusted text fit for one line of a menu or alert: nothing in it hides, reorders or overlaps other text.
 */
import { type Cluster, splitClusters, sumWidth } from "./width.ts";

const maxInput = 2_000;

/** For display. What is kept of an agent's text was made one line by toOneLine before, and can still have hidden characters. */
export function toSingleLine(text: string): string {
  return (
    text
      .slice(0, maxInput)
      .toWellFormed()
      .normalize("NFC")
      // Whole escape sequences: without the ESC, the rest would be left as garbage.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed here
      .replace(/\u001b(?:\[[0-9:;<=>?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g, "")
      // Direction marks, tags and zero-width blanks. Joiners stay: emoji and Persian need them.
      .replace(
        /[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff\u{e0000}-\u{e007f}]/gu,
        "",
      )
      .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
      // Stacked accents reach into the lines above.
      .replace(/(\p{M}{3})\p{M}+/gu, "$1")
      .replace(/(\u200d)[\u200c\u200d]+/g, "$1")
      .trim()
  );
}

const joinClusters = (list: readonly Cluster[]): string => list.map(({ text }) => text).join("");

function takeFitting(list: readonly Cluster[], width: number): Cluster[] {
  let used = 0;
  const end = list.findIndex((cluster) => {
    used += cluster.width;
    return used > width;
  });
  return end === -1 ? [...list] : list.slice(0, end);
}

/** Keeps the beginning, up to the end of a word if one ends nearby. */
export function truncateEnd(text: string, width: number): string {
  const all = splitClusters(toSingleLine(text));
  if (sumWidth(all) <= width) return joinClusters(all);
  const kept = joinClusters(takeFitting(all, Math.max(0, width - 1)));
  const word = kept.replace(/[\s,;:.·–—-]+\S*$/u, "");
  const isNearby = word.length >= kept.length * 0.7;
  return `${(isNearby ? word : kept).trimEnd()}…`;
}

/** Keeps the beginning and the end: names that are not equal mostly differ in one of them. */
export function truncateMiddle(text: string, width: number): string {
  const all = splitClusters(toSingleLine(text));
  if (sumWidth(all) <= width) return joinClusters(all);
  const room = Math.max(0, width - 1);
  const end = takeFitting(all.toReversed(), Math.floor(room / 2)).toReversed();
  const start = takeFitting(all, room - sumWidth(end));
  return `${joinClusters(start).trimEnd()}…${joinClusters(end).trimStart()}`;
}

/** Returns the first line of a model's text that is not empty, without Markdown. */
export function extractFirstLine(text: string | null): string {
  const line = text?.split("\n").find((part) => part.trim() !== "") ?? "";
  return line.replace(/\*\*|__|`/g, "").replace(/^\s*#+\s+/, "");
}
