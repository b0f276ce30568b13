/** Where paths lead when links are followed: a rule for a folder must not allow a link that leaves it. */
import { realpath } from "node:fs/promises";
import { findRelativePath } from "../core/text/paths.ts";

/** Whether every path, as far as it exists, is inside the folder. */
export async function areInside(folder: string, paths: readonly string[]): Promise<boolean> {
  const realFolder = await resolveExisting(folder);
  const realPaths = await Promise.all(paths.map(resolveExisting));
  return (
    realFolder !== null &&
    realPaths.every((path) => path !== null && findRelativePath(realFolder, path) !== null)
  );
}

const missingCodes: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

/** The real path, with the part that does not exist appended as it is; null if it cannot be read. */
async function resolveExisting(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!missingCodes.has((error as NodeJS.ErrnoException).code)) return null;
    const parent = path.replace(/[\\/][^\\/]*$/, "");
    if (parent === path || parent === "") return path;
    const realParent = await resolveExisting(parent);
    return realParent === null ? null : realParent + path.slice(parent.length);
  }
}
