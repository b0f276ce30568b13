/** The lines in which two texts differ. Pure. */
import { createLabel, createLines, type FittedLine } from "./fit.ts";

/** Comparing more pairs of lines would take too long: then everything between the first and the last difference counts as changed. */
const maxPairs = 1_000_000;

/** Each place that differs: the number of its first line in `after`, what was removed and what was added. */
export function diffLines(before: string, after: string): FittedLine[] {
  const oldLines = splitText(before);
  const newLines = splitText(after);
  const shorter = Math.min(oldLines.length, newLines.length);
  let start = 0;
  while (start < shorter && oldLines[start] === newLines[start]) start++;
  let end = 0;
  while (end < shorter - start && oldLines.at(-1 - end) === newLines.at(-1 - end)) end++;
  const removed = oldLines.slice(start, oldLines.length - end);
  const added = newLines.slice(start, newLines.length - end);
  return listPlaces(removed, added).flatMap((place) => [
    createLabel(`line ${start + place.line + 1}`),
    ...createLines(place.removed, "- "),
    ...createLines(place.added, "+ "),
  ]);
}

const splitText = (text: string): string[] => {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
};

interface ChangedPlace {
  /** Index in the newer lines. */
  readonly line: number;
  readonly removed: string[];
  readonly added: string[];
}

function listPlaces(removed: readonly string[], added: readonly string[]): ChangedPlace[] {
  if (removed.length === 0 && added.length === 0) return [];
  if (removed.length * added.length > maxPairs)
    return [{ line: 0, removed: [...removed], added: [...added] }];
  const lengths = countCommonLines(removed, added);
  const width = added.length + 1;
  const places: ChangedPlace[] = [];
  let open: ChangedPlace | null = null;
  let [n, m] = [0, 0];
  while (n < removed.length || m < added.length) {
    if (n < removed.length && m < added.length && removed[n] === added[m]) {
      open = null;
      n++;
      m++;
      continue;
    }
    if (!open) {
      open = { line: m, removed: [], added: [] };
      places.push(open);
    }
    const isRemoval =
      m === added.length ||
      (n < removed.length && (lengths[(n + 1) * width + m] ?? 0) >= (lengths[n * width + m + 1] ?? 0));
    if (isRemoval) open.removed.push(removed[n++] ?? "");
    else open.added.push(added[m++] ?? "");
  }
  return places;
}

/** For each pair of positions, how many lines the rests after them have in common, in order. */
function countCommonLines(removed: readonly string[], added: readonly string[]): Uint32Array {
  const width = added.length + 1;
  const lengths = new Uint32Array((removed.length + 1) * width);
  for (let n = removed.length - 1; n >= 0; n--)
    for (let m = added.length - 1; m >= 0; m--)
      lengths[n * width + m] =
        removed[n] === added[m]
          ? (lengths[(n + 1) * width + m + 1] ?? 0) + 1
          : Math.max(lengths[(n + 1) * width + m] ?? 0, lengths[n * width + m + 1] ?? 0);
  return lengths;
}
