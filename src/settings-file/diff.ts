/** What a dry run would change, as people know it from `diff -u`. */

const contextLines = 3;
/** Beyond so many changed lines all between the first and the last counts as changed: no file takes long. */
const maxChanges = 1000;
/** So much of what two long lines have in common is shown before and after what they have not. */
const commonChars = 60;

interface Change {
  /** First line of each side, counted from 0, and how many. */
  readonly before: number;
  readonly removed: number;
  readonly after: number;
  readonly added: number;
}

/** Without the two lines that name the files. Empty: the same text. */
export function createDiff(before: string, after: string): string[] {
  if (before === after) return [];
  const [old, fresh] = [linesOf(before), linesOf(after)];
  return hunksOf(joined(changesBetween(old, fresh))).flatMap((hunk) => show(old, fresh, hunk));
}

/** Each with its newline, so that a last line without one is another line. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

function changesBetween(old: readonly string[], fresh: readonly string[]): Change[] {
  const most = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < most && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  const changes = shortest(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end));
  return changes.map((change) => ({ ...change, before: change.before + start, after: change.after + start }));
}

/** Myers' greedy way: each round may change one line more; how far each diagonal got is kept for the way back. */
function shortest(old: readonly string[], fresh: readonly string[]): Change[] {
  const [n, m] = [old.length, fresh.length];
  const rounds: Int32Array[] = [];
  // Diagonal d of round r is at d + r + 1; one further at each side so that the next round finds neighbours.
  let reached = new Int32Array([-1, 0, -1]);
  for (let round = 0; round <= Math.min(n + m, maxChanges); round++) {
    const next = new Int32Array(2 * round + 5).fill(-1);
    for (let diagonal = -round; diagonal <= round; diagonal += 2) {
      let x = round === 0 ? 0 : stepTo(reached, diagonal, round).x;
      while (x < n && x - diagonal < m && old[x] === fresh[x - diagonal]) x++;
      next[diagonal + round + 2] = x;
      if (x >= n && x - diagonal >= m) return wayBack(rounds, round, n, m);
    }
    rounds.push(next);
    reached = next;
  }
  return [{ before: 0, removed: n, after: 0, added: m }];
}

/** Where the round before leads on this diagonal: one line of the old text left out, or one of the new put in. */
function stepTo(previous: Int32Array, diagonal: number, round: number): { x: number; isAdded: boolean } {
  const at = diagonal + round + 1;
  const [removed, added] = [(previous[at - 1] ?? -1) + 1, previous[at + 1] ?? -1];
  const isAdded = diagonal === -round || (diagonal !== round && removed <= added);
  return { x: isAdded ? added : removed, isAdded };
}

function wayBack(rounds: readonly Int32Array[], last: number, n: number, m: number): Change[] {
  const changes: Change[] = [];
  let [x, y] = [n, m];
  for (let round = last; round > 0; round--) {
    const diagonal = x - y;
    const step = stepTo(rounds[round - 1] ?? new Int32Array(0), diagonal, round);
    const from = step.isAdded ? step.x : step.x - 1;
    [x, y] = [from, from - (diagonal + (step.isAdded ? 1 : -1))];
    changes.push({ before: x, removed: step.isAdded ? 0 : 1, after: y, added: step.isAdded ? 1 : 0 });
  }
  return changes.reverse();
}

/** Lines that follow each other are one change. */
function joined(changes: readonly Change[]): Change[] {
  const all: Change[] = [];
  for (const change of changes) {
    const last = all.at(-1);
    if (last && last.before + last.removed === change.before && last.after + last.added === change.after) {
      all[all.length - 1] = {
        ...last,
        removed: last.removed + change.removed,
        added: last.added + change.added,
      };
    } else all.push(change);
  }
  return all;
}

/** Changes whose surroundings would touch are shown together. */
function hunksOf(changes: readonly Change[]): Change[][] {
  const hunks: Change[][] = [];
  for (const change of changes) {
    const last = hunks.at(-1)?.at(-1);
    if (last && change.before - (last.before + last.removed) <= 2 * contextLines) hunks.at(-1)?.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

function show(old: readonly string[], fresh: readonly string[], hunk: readonly Change[]): string[] {
  const [first, last] = [hunk[0], hunk.at(-1)];
  if (!first || !last) return [];
  const lead = Math.min(contextLines, first.before);
  const end = last.before + last.removed;
  const trail = Math.min(contextLines, old.length - end);
  let at = first.before - lead;
  const changed = hunk.flatMap(({ before, removed, after, added }) => {
    const same = old.slice(at, before);
    at = before + removed;
    const [gone, come] = shortened(old.slice(before, at), fresh.slice(after, after + added));
    return [all(" ", same), all("-", gone), all("+", come)].flat();
  });
  const range = (from: number, to: number): string => `${from === to ? from : from + 1},${to - from}`;
  const ranges = [
    range(first.before - lead, end + trail),
    range(first.after - lead, last.after + last.added + trail),
  ];
  return [[`@@ -${ranges[0]} +${ranges[1]} @@`], changed, all(" ", old.slice(end, end + trail))].flat();
}

/** A settings file on one line: what does not change may be megabytes. */
function shortened(removed: string[], added: string[]): [string[], string[]] {
  const [old = "", fresh = ""] = [removed[0], added[0]];
  if (removed.length !== 1 || added.length !== 1) return [removed, added];
  const most = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < most && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  const short = (line: string): string => {
    const head = line.slice(Math.max(0, start - commonChars), line.length - end);
    const tail = line.slice(line.length - end);
    const isLong = tail.length > 2 * commonChars;
    const rest = isLong ? `${tail.slice(0, commonChars)}…${tail.endsWith("\n") ? "\n" : ""}` : tail;
    return (start > commonChars ? "…" : "") + head + rest;
  };
  return [[short(old)], [short(fresh)]];
}

const all = (sign: string, lines: readonly string[]): string[] => lines.flatMap((line) => print(sign, line));

/** A terminal obeys control characters; in a stranger's project the settings are a stranger's text. */
function print(sign: string, line: string): string[] {
  const isWhole = line.endsWith("\n");
  const text = line
    .replace(/\r?\n$/, "")
    .replace(/(?!\t)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, "?");
  return [sign + text, ...(isWhole ? [] : ["\\ No newline at end of file"])];
}
