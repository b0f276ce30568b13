/** The files that a session has changed. Pure: links are not followed here. */
import { limits } from "../limits.ts";
import { isAbsolute, resolvePath } from "../text/paths.ts";
import type { FileEdit, Moment } from "./event.ts";

/** The newest last, each file once. A patch can name more files than are kept. */
export function addEdits(
  edits: readonly FileEdit[],
  paths: readonly string[],
  folder: string | null,
  { at, t }: Moment,
): readonly FileEdit[] {
  let next = edits;
  for (const named of paths.slice(-limits.maxEditedFiles)) {
    if (folder === null && !isAbsolute(named)) continue;
    const path = resolvePath(folder ?? "/", named);
    const known = findEdit(next, path);
    const others = known === -1 ? next.slice(1 - limits.maxEditedFiles) : next.toSpliced(known, 1);
    next = [...others, { path, at, t }];
  }
  return next;
}

/** A plain loop: with a function for each of 256 edits, this was a third of what an edit costs. */
function findEdit(edits: readonly FileEdit[], path: string): number {
  for (let index = edits.length - 1; index >= 0; index--) if (edits[index]?.path === path) return index;
  return -1;
}
