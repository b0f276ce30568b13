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
  /** By real path: the sessions. Lists, because most files have one: with a map for each, 30,000 edits took 17 MB instead of 11. */
  const files = new Map<string, readonly string[]>();
  /** By session: its edits by real path, the oldest first. */
  const editsOf = new Map<string, Map<string, FileEdit>>();

  function drop(path: string, key: string): void {
    const others = files.get(path)?.filter((other) => other !== key) ?? [];
    if (others.length === 0) files.delete(path);
    else files.set(path, others);
  }

  function find(path: string, key: string): FileEdit | undefined {
    return files.get(path)?.includes(key) ? editsOf.get(key)?.get(path) : undefined;
  }

  return {
    add(key, edits) {
      const own = editsOf.get(key) ?? new Map<string, FileEdit>();
      editsOf.set(key, own);
      const met: string[] = [];
      const dropped: string[] = [];
      for (const edit of edits) {
        const path = findReal(edit.path);
        if (path === null) continue;
        const known = files.get(path) ?? [];
        const sessions = known.includes(key) ? known : [...known, key];
        if (sessions !== known) files.set(path, sessions);
        own.delete(path);
        own.set(path, edit);
        if (sessions.length > 1) met.push(path);
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
      (files.get(path) ?? []).flatMap((key) => {
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
