/** "Did you mean …?" for names that do not exist. */

const maxLength = 40;

/** Finds the candidate that `name` is most likely a typo of, also without its `group.` prefix; null if none is close. */
export function findClosest(name: string, candidates: readonly string[]): string | null {
  const typed = name.slice(0, maxLength).toLowerCase();
  const rated = candidates.map((candidate) => {
    const full = candidate.toLowerCase();
    const last = full.slice(full.lastIndexOf(".") + 1);
    return { candidate, distance: Math.min(editDistance(typed, full), editDistance(typed, last)) };
  });
  const [best] = rated.toSorted((a, b) => a.distance - b.distance);
  const maxDistance = Math.max(1, Math.min(3, Math.floor(typed.length / 3)));
  return best && best.distance <= maxDistance ? best.candidate : null;
}

/** How many letters to insert, delete or replace, or neighbours to swap (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let previous: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      const isSwap = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      const swapped = isSwap ? (previous[j - 1] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    previous = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
