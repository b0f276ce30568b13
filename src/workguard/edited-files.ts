/** Which live sessions have edited which files, by real path. A session has only its newest edits. */
import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { followLinks } from "../answers/real-paths.ts";
import { forgetOldest } from "../core/forget-oldest.ts";
import { limits } from "../core/limits.ts";
import type { FileEdit } from "../core/session/event.ts";
import { isGenerated } from "./generated-files.ts";

/** The session's key, and its last edit of a file. */
export type EditOfSession = readonly [key: string, edit: FileEdit];

export interface EditedFiles {
  /** `key`: the session's. Returns the files that other sessions have edited too, and those of its edits that do not count any more. */
  add(
    key: string,
    edits: readonly FileEdit[],
  ): { readonly met: readonly string[]; readonly dropped: readonly string[] };
  of(path: string): readonly EditOfSession[];
  find(path: string, key: string): FileEdit | undefined;
  drop(path: string, key: string): void;
  /** Returns the files that the session has edited. */
  forget(key: string): readonly string[];
}

type FindPath = (named: string) => string | null;

/** Where a file really is; null if its changes are not a session's own work. */
export function findRealPath(named: string, findFolder: FindPath = followLinks): string | null {
  const folder = isGenerated(named) ? null : findFolder(dirname(named));
  if (folder === null) return null;
  const path = join(folder, basename(named));
  const real = isLink(path) ? followLinks(path) : path;
  return real === null || (real !== named && isGenerated(real)) ? null : real;
}

/** Following links takes longer than everything else about an edit: each file is named before and after it, and most share few folders. */
const knownMs = 10_000;
const maxKnown = 500;

/** Like `findRealPath`, but a link that changes is noticed a little later. */
export function createRealPaths(now: () => number): FindPath {
  const findFolder = remember(followLinks);

  function remember(find: FindPath): FindPath {
    const known = new Map<string, { readonly real: string | null; readonly at: number }>();
    return (named) => {
      const found = known.get(named);
      if (found && now() - found.at < knownMs) return found.real;
      const real = find(named);
      known.set(named, { real, at: now() });
      forgetOldest(known, maxKnown);
      return real;
    };
  }

  return remember((named) => findRealPath(named, findFolder));
}

/** Also if that cannot be read: then nothing is known of where it leads. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  } catch {
    return true;
  }
}

export function createEditedFiles(findReal: FindPath): EditedFiles {
  /**
   * By real path: the session, or several. Most files have one: with a map for each file and a string of its own for each
   * path, 120,000 edits of 1,000 sessions took 72 MB instead of 37.
   */
  const files = new Map<string, string | readonly string[]>();
  /** By session: its edits by real path, the oldest first. */
  const editsOf = new Map<string, Map<string, FileEdit>>();

  function sessionsOf(path: string): readonly string[] {
    const sessions = files.get(path) ?? [];
    return typeof sessions === "string" ? [sessions] : sessions;
  }

  function drop(path: string, key: string): void {
    const others = sessionsOf(path).filter((other) => other !== key);
    const [first] = others;
    if (first === undefined) files.delete(path);
    else files.set(path, others.length === 1 ? first : others);
  }

  function find(path: string, key: string): FileEdit | undefined {
    return sessionsOf(path).includes(key) ? editsOf.get(key)?.get(path) : undefined;
  }

  return {
    add(key, edits) {
      const own = editsOf.get(key) ?? new Map<string, FileEdit>();
      editsOf.set(key, own);
      const met: string[] = [];
      const dropped: string[] = [];
      for (const edit of edits) {
        const real = findReal(edit.path);
        if (real === null) continue;
        // The same text in two strings would be kept twice.
        const path = real === edit.path ? edit.path : real;
        const others = sessionsOf(path).filter((other) => other !== key);
        if (others.length === 0) files.set(path, key);
        else if (!sessionsOf(path).includes(key)) files.set(path, [...others, key]);
        own.delete(path);
        own.set(path, edit);
        if (others.length > 0) met.push(path);
      }
      for (const path of own.keys()) {
        if (own.size <= limits.maxEditedFiles) break;
        drop(path, key);
        own.delete(path);
        dropped.push(path);
      }
      return { met, dropped };
    },
    of: (path) =>
      sessionsOf(path).flatMap((key) => {
        const edit = find(path, key);
        return edit ? [[key, edit] as const] : [];
      }),
    find,
    drop,
    forget(key) {
      const own = [...(editsOf.get(key)?.keys() ?? [])];
      editsOf.delete(key);
      for (const path of own) drop(path, key);
      return own;
    },
  };
}
