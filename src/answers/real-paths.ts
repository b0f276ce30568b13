/**
 * Where paths lead when links are followed: what is shown must be the file that is written, and a rule for a folder must not
 * allow a link that leaves it.
 */
import { lstatSync, readlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, parse } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { AutoAllowed } from "../agents/agent.ts";
import type { DiskLinks } from "../agents/links.ts";
import { findRelativePath } from "../core/text/paths.ts";

export const diskLinks: DiskLinks = { follow: followLinks, home: homedir() };

/** A folder with more files is for the user to decide. */
const maxEntries = 10_000;
/** Following this many takes some milliseconds, in which the app does nothing else. */
const linksAtOnce = 500;

/** Whether every path, as far as it exists, is inside the folder, and so is what the program reads through links. */
export async function staysInside({
  folder,
  paths,
  readThroughLinks,
}: Omit<AutoAllowed, "rule">): Promise<boolean> {
  const realFolder = followLinks(folder);
  if (realFolder === null) return false;
  const isInside = (path: string): boolean => {
    const realPath = followLinks(path);
    return realPath !== null && findRelativePath(realFolder, realPath) !== null;
  };
  if (![...paths, ...readThroughLinks].every(isInside)) return false;
  const links = await listLinks(readThroughLinks);
  for (let n = 0; links && n < links.length; n += linksAtOnce) {
    if (!links.slice(n, n + linksAtOnce).every(isInside)) return false;
    await setImmediate();
  }
  return links !== null;
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

const maxLinks = 40;
/**
 * They lead every process elsewhere, or into what another process has open at that moment: its folder, its root, its files. The
 * text of such a link is not where it leads.
 */
const ofProcess = /^\/proc\/(?:self|thread-self|\d+\/.+)$/;

/**
 * The path without links. What does not exist stays as it is, and the target of a link counts even if it does not exist: a
 * program that writes creates it. null if it cannot be read, or leads in a circle. The path is absolute.
 */
export function followLinks(path: string): string | null {
  let { root: current } = parse(path);
  const open = listSegments(path.slice(current.length));
  let count = 0;
  for (let segment = open.pop(); segment !== undefined; segment = open.pop()) {
    const next = join(current, segment);
    const target = segment === ".." ? null : readLink(next);
    if (target === undefined || (target !== null && ofProcess.test(next))) return null;
    if (target === null) {
      current = next;
      continue;
    }
    if (++count > maxLinks) return null;
    const { root } = parse(target);
    if (root !== "") current = root;
    open.push(...listSegments(target.slice(root.length)));
  }
  return current;
}

/** The last one first. */
const listSegments = (path: string): string[] =>
  path
    .split(process.platform === "win32" ? /[\\/]+/ : /\/+/)
    .filter((segment) => segment !== "" && segment !== ".")
    .reverse();

/** null if it is not a link, or does not exist; undefined if it cannot be read. */
function readLink(path: string): string | null | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : null;
  } catch (error) {
    return missingCodes.has((error as NodeJS.ErrnoException).code) ? null : undefined;
  }
}
