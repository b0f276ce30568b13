/** What a person most likely meant by a name that does not exist. */

const maxLooked = 40;

/** A likely typo of it, or its name without the group it belongs to. */
export function findClosest(given: string, candidates: readonly string[]): string | null {
  const name = given.slice(0, maxLooked).toLowerCase();
  const rated = candidates.map((candidate) => {
    const full = candidate.toLowerCase();
    const last = full.slice(full.lastIndexOf(".") + 1);
    return { candidate, away: Math.min(distance(name, full), distance(name, last)) };
  });
  const [best] = rated.toSorted((a, b) => a.away - b.away);
  const isNear = best && best.away <= Math.max(1, Math.min(3, Math.floor(name.length / 3)));
  return isNear ? best.candidate : null;
}

/** How many letters to add, drop or change, or neighbours to swap. */
function distance(a: string, b: string): number {
  let above: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const change = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      const isSwapped = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      const swap = isSwapped ? (above[j - 1] ?? 0) + 1 : change;
      next.push(Math.min(change, swap, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    above = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
