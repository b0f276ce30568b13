/** Chooses, among the windows on the screen, the one that shows a session. */
import type { WindowInfo } from "./plan.ts";
import type { WindowQuery } from "./terminal.ts";

export type WindowChoice =
  /** `isCertain` is false if only a folder's name in the title decided: another window could show it too. */
  | { readonly kind: "one"; readonly window: WindowInfo; readonly isCertain: boolean }
  /** Windows of the same terminal that nothing distinguishes, the last used one last. */
  | { readonly kind: "several"; readonly windows: readonly WindowInfo[] }
  | { readonly kind: "none" };

const one = (window: WindowInfo, isCertain = true): WindowChoice => ({ kind: "one", window, isCertain });

export function chooseWindow(windows: readonly WindowInfo[], query: WindowQuery): WindowChoice {
  const hasId = ({ id, childIds = [] }: WindowInfo) =>
    [id, ...childIds].some((name) => query.ids.includes(name));
  const candidates = query.pids.length === 0 ? windows.filter(hasId) : windowsOfNearest(windows, query.pids);
  const [first] = candidates;
  if (first === undefined) return { kind: "none" };
  const withId = candidates.filter(hasId);
  if (withId.length === 1 && withId[0]) return one(withId[0]);
  if (candidates.length === 1) return one(first);
  const byTitle = findByTitle(candidates, query.titles);
  if (byTitle) return one(byTitle);
  const byFolder = findByFolder(candidates, query.cwd);
  return byFolder ? one(byFolder, false) : { kind: "several", windows: candidates };
}

/** The windows of the first process that has any: a terminal's window can belong to its parent. */
function windowsOfNearest(windows: readonly WindowInfo[], pids: readonly number[]): readonly WindowInfo[] {
  for (const pid of pids) {
    const owned = windows.filter((window) => window.pid === pid);
    if (owned.length > 0) return owned;
  }
  return [];
}

/** Agents put a symbol before their title, and terminals their own name behind it. */
const normalizeTitle = (title: string): string =>
  title
    .replace(/^[^\p{L}\p{N}]+/u, "")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();

const minTitleLength = 3;

function findByTitle(windows: readonly WindowInfo[], titles: readonly string[]): WindowInfo | null {
  for (const title of titles.map(normalizeTitle)) {
    if (title.length < minTitleLength) continue;
    const equal = windows.filter((window) => normalizeTitle(window.title) === title);
    const matches =
      equal.length > 0 ? equal : windows.filter((window) => normalizeTitle(window.title).includes(title));
    if (matches.length === 1 && matches[0]) return matches[0];
  }
  return null;
}

/** Shells and editors show the folder in the title: whole (`~/code/shop`), or its last part as a word. */
function findByFolder(windows: readonly WindowInfo[], cwd: string | null): WindowInfo | null {
  if (cwd === null) return null;
  const last = cwd
    .split(/[\\/]/)
    .filter((part) => part !== "")
    .at(-1);
  if (last === undefined) return null;
  const word = new RegExp(`(?<![\\p{L}\\p{N}_.-])${escapeRegExp(last)}(?![\\p{L}\\p{N}_.-])`, "iu");
  const matches = windows.filter(({ title }) => word.test(title));
  return matches.length === 1 && matches[0] ? matches[0] : null;
}

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
