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
    const known = next.findIndex((edit) => edit.path === path);
    const others = known === -1 ? next.slice(1 - limits.maxEditedFiles) : next.toSpliced(known, 1);
    next = [...others, { path, at, t }];
  }
  return next;
}
