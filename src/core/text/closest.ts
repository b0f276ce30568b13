/** "Did you mean …?" for names that do not exist. */

const maxLength = 40;
const maxTextLength = 200;

/** Finds the text that `typed` is most likely a typo of; null if none is close. */
export function findClosestText(typed: string, candidates: readonly string[]): string | null {
  const text = typed.slice(0, maxTextLength).toLowerCase();
  return chooseClosest(text, candidates, (candidate) =>
    editDistance(text, candidate.slice(0, maxTextLength).toLowerCase()),
  );
}

/** Finds the candidate that `name` is most likely a typo of, also without its `group.` prefix; null if none is close. */
export function findClosest(name: string, candidates: readonly string[]): string | null {
  const typed = name.slice(0, maxLength).toLowerCase();
  return chooseClosest(typed, candidates, (candidate) => {
    const full = candidate.toLowerCase();
    const last = full.slice(full.lastIndexOf(".") + 1);
    return Math.min(editDistance(typed, full), editDistance(typed, last));
  });
}

/** null if every candidate is too far from what was typed. */
function chooseClosest(
  typed: string,
  candidates: readonly string[],
  measure: (candidate: string) => number,
): string | null {
  const rated = candidates.map((candidate) => ({ candidate, distance: measure(candidate) }));
  const [best] = rated.toSorted((a, b) => a.distance - b.distance);
  const maxDistance = Math.max(1, Math.min(3, Math.floor(typed.length / 3)));
  // A single letter is not a typo of every other letter.
  return best && best.distance <= maxDistance && best.distance < typed.length ? best.candidate : null;
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
