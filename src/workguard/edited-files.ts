/** Which live sessions have edited which files, by real path. A session has only its newest edits. */
import { followLinks } from "../answers/real-paths.ts";
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

/** Where the file really is; null if its changes are not a session's own work. */
export function findRealPath(named: string): string | null {
  const path = isGenerated(named) ? null : followLinks(named);
  return path === null || isGenerated(path) ? null : path;
}

export function createEditedFiles(): EditedFiles {
  /** By real path, then by session. */
  const files = new Map<string, Map<string, FileEdit>>();
  /** By session: the real paths of its edits, the oldest first. */
  const pathsOf = new Map<string, Set<string>>();

  function drop(path: string, key: string): void {
    const sessions = files.get(path);
    sessions?.delete(key);
    if (sessions?.size === 0) files.delete(path);
  }

  return {
    add(key, edits) {
      const own = pathsOf.get(key) ?? new Set<string>();
      pathsOf.set(key, own);
      const met: string[] = [];
      const dropped: string[] = [];
      for (const edit of edits) {
        const path = findRealPath(edit.path);
        if (path === null) continue;
        const sessions = files.get(path) ?? new Map<string, FileEdit>();
        files.set(path, sessions.set(key, edit));
        own.delete(path);
        own.add(path);
        if (sessions.size > 1) met.push(path);
      }
      for (const path of own) {
        if (own.size <= limits.maxEditedFiles) break;
        drop(path, key);
        own.delete(path);
        dropped.push(path);
      }
      return { met, dropped };
    },
    of: (path) => [...(files.get(path) ?? [])],
    find: (path, key) => files.get(path)?.get(key),
    drop,
    forget(key) {
      const own = [...(pathsOf.get(key) ?? [])];
      pathsOf.delete(key);
      for (const path of own) drop(path, key);
      return own;
    },
  };
}
