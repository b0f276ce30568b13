/** Which of the windows on the screen is meant? */
import type { Window } from "./plan.ts";
import type { Wanted } from "./row.ts";

export type Choice =
  /** `sure`: by more than a folder's name in its title, which another window could show too. */
  | { readonly kind: "one"; readonly window: Window; readonly sure: boolean }
  /** All of the same terminal, and nothing tells them apart. The most recently used last. */
  | { readonly kind: "several"; readonly windows: readonly Window[] }
  | { readonly kind: "none" };

const one = (window: Window, sure = true): Choice => ({ kind: "one", window, sure });

export function choose(windows: readonly Window[], wanted: Wanted): Choice {
  const isNamed = ({ id, inside = [] }: Window) => [id, ...inside].some((name) => wanted.ids.includes(name));
  const theirs = wanted.pids.length === 0 ? windows.filter(isNamed) : ofNearest(windows, wanted.pids);
  const [first] = theirs;
  if (first === undefined) return { kind: "none" };
  const named = theirs.filter(isNamed);
  if (named.length === 1 && named[0]) return one(named[0]);
  if (theirs.length === 1) return one(first);
  const titled = byTitle(theirs, wanted.titles);
  if (titled) return one(titled);
  const placed = byFolder(theirs, wanted.cwd);
  return placed ? one(placed, false) : { kind: "several", windows: theirs };
}

/** Of the first process that has a window at all: a terminal's window can belong to its parent. */
function ofNearest(windows: readonly Window[], pids: readonly number[]): readonly Window[] {
  for (const pid of pids) {
    const theirs = windows.filter((window) => window.pid === pid);
    if (theirs.length > 0) return theirs;
  }
  return [];
}

/** Agents put a sign before their title, and terminals their own name behind it. */
const plain = (title: string): string =>
  title
    .replace(/^[^\p{L}\p{N}]+/u, "")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();

const minTitleLength = 3;

function byTitle(windows: readonly Window[], titles: readonly string[]): Window | null {
  for (const title of titles.map(plain)) {
    if (title.length < minTitleLength) continue;
    const same = windows.filter((window) => plain(window.title) === title);
    const alike = same.length > 0 ? same : windows.filter((window) => plain(window.title).includes(title));
    if (alike.length === 1 && alike[0]) return alike[0];
  }
  return null;
}

/** Shells and editors show the folder: whole (`~/code/shop`), or its last part as a word. */
function byFolder(windows: readonly Window[], cwd: string | null): Window | null {
  if (cwd === null) return null;
  const parts = cwd.split(/[\\/]/).filter((part) => part !== "");
  const last = parts.at(-1);
  if (last === undefined) return null;
  const word = new RegExp(`(?<![\\p{L}\\p{N}_.-])${literally(last)}(?![\\p{L}\\p{N}_.-])`, "iu");
  const found = windows.filter(({ title }) => word.test(title));
  return found.length === 1 && found[0] ? found[0] : null;
}

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
