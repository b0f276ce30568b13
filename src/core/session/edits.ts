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
  const named = paths
    .filter((path) => folder !== null || isAbsolute(path))
    .map((path) => resolvePath(folder ?? "/", path));
  const added = new Set(named);
  const kept = edits.filter(({ path }) => !added.has(path));
  return [...kept, ...[...added].map((path) => ({ path, at, t }))].slice(-limits.maxEditedFiles);
}
