/** Where paths lead when links are followed. */
import { realpath } from "node:fs/promises";
import { relativeWithin } from "../core/text/paths.ts";

/** Whether each of them, as far as it is there, lies inside of the folder. */
export async function areInside(folder: string, paths: readonly string[]): Promise<boolean> {
  const outer = await leadsTo(folder);
  const inner = await Promise.all(paths.map(leadsTo));
  return outer !== null && inner.every((path) => path !== null && relativeWithin(outer, path) !== null);
}

const notThere: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

/** null: nobody can say. */
async function leadsTo(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!notThere.has((error as NodeJS.ErrnoException).code)) return null;
    const parent = path.replace(/[\\/][^\\/]*$/, "");
    if (parent === path || parent === "") return path;
    const found = await leadsTo(parent);
    return found === null ? null : found + path.slice(parent.length);
  }
}
