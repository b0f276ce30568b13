/** Where paths lead when links are followed: a rule for a folder must not allow a link that leaves it. */
import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { AutoAllowed } from "../agents/agent.ts";
import { findRelativePath } from "../core/text/paths.ts";

/** A folder with more files is for the user to decide. */
const maxEntries = 10_000;

/** Whether every path, as far as it exists, is inside the folder, and so is what the program reads through links. */
export async function staysInside({
  folder,
  paths,
  readThroughLinks,
}: Omit<AutoAllowed, "rule">): Promise<boolean> {
  const realFolder = await resolveExisting(folder);
  if (realFolder === null) return false;
  const isInside = async (path: string): Promise<boolean> => {
    const realPath = await resolveExisting(path);
    return realPath !== null && findRelativePath(realFolder, realPath) !== null;
  };
  for (const path of [...paths, ...readThroughLinks]) if (!(await isInside(path))) return false;
  const links = await listLinks(readThroughLinks);
  if (links === null) return false;
  for (const link of links) if (!(await isInside(link))) return false;
  return true;
}

const missingCodes: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

/** All links in the folders and their subfolders. null if there are too many files, or if they cannot be read. */
async function listLinks(folders: readonly string[]): Promise<string[] | null> {
  const open = [...new Set(folders)];
  const links: string[] = [];
  let count = 0;
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    try {
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        if (++count > maxEntries) return null;
        if (entry.isSymbolicLink()) links.push(join(folder, entry.name));
        else if (entry.isDirectory()) open.push(join(folder, entry.name));
      }
    } catch (error) {
      if (!missingCodes.has((error as NodeJS.ErrnoException).code)) return null;
    }
  }
  return links;
}

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
