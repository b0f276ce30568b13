/** Follows a path link by link, and refuses it if another user could lead it elsewhere. */
import { lstatSync, readlinkSync, realpathSync, type Stats, statfsSync } from "node:fs";
import { dirname, join, parse, sep } from "node:path";
import { errorCode, readOr } from "../storage/files.ts";

export interface OwnedPath {
  /** The file itself, with all links resolved. It need not exist. */
  readonly target: string;
  /** Null if it does not exist. */
  readonly stats: Stats | null;
}

const maxLinks = 40;
/** The file system of Windows' drives in WSL. Every mode there reads 0777, and means nothing. */
const windowsDriveType = 0x01021997;

/** `path` is absolute. Throws an error for the user if beckon must not write there. */
export function resolveOwnedPath(path: string, home: string, uid = process.getuid?.() ?? null): OwnedPath {
  const homes = [home, resolveLinks(home)];
  const isInHome = (part: string) =>
    homes.some((folder) => part === folder || part.startsWith(`${folder}${sep}`));
  const check = (part: string, stats: Stats) => {
    const problem = uid === null ? null : findProblem(part, stats, { uid, isInHome: isInHome(part) });
    if (problem) throw new Error(problem);
  };

  let current = parse(path).root;
  let names = path.slice(current.length).split(sep).filter(Boolean);
  let stats: Stats | null = null;
  for (let links = 0; names.length > 0; ) {
    const [name = "", ...rest] = names;
    names = rest;
    if (name === ".") continue;
    const next = name === ".." ? dirname(current) : join(current, name);
    stats = readStats(next);
    if (!stats) return { target: join(next, ...rest), stats: null };
    check(next, stats);
    if (!stats.isSymbolicLink()) {
      current = next;
      continue;
    }
    if (++links > maxLinks) throw new Error(`${path} is a link that leads back to itself`);
    const linkTarget = readlinkSync(next);
    const { root } = parse(linkTarget);
    if (root !== "") current = root;
    names = [...linkTarget.slice(root.length).split(sep).filter(Boolean), ...rest];
  }
  return { target: current, stats };
}

/** Folders outside the home folder may belong to root. */
function findProblem(
  path: string,
  stats: Stats,
  { uid, isInHome }: { uid: number; isInHome: boolean },
): string | null {
  const mayBeRoots = !isInHome && !stats.isFile();
  if (stats.uid !== uid && !(mayBeRoots && stats.uid === 0)) {
    const hint = uid === 0 ? "Run beckon as that user, without sudo." : "If it should be yours, chown it.";
    return `${path} belongs to user ${stats.uid}, not to you (${uid}). ${hint}`;
  }
  const isWorldWritable = !stats.isSymbolicLink() && (stats.mode & 0o1002) === 0o002;
  if (isWorldWritable && statfsSync(path).type !== windowsDriveType)
    return `${path} can be written by every user of this machine. First run: chmod o-w '${path}'`;
  return null;
}

function readStats(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (cause) {
    throw new Error(`${path} cannot be read (${errorCode(cause)})`, { cause });
  }
}

/** The path itself if it leads to nothing. */
export const resolveLinks = (path: string): string => readOr(() => realpathSync(path), path);
