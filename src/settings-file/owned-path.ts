/** Where a path really leads, link by link, and whether somebody other than the person could turn it elsewhere. */
import { lstatSync, readlinkSync, realpathSync, type Stats, statfsSync } from "node:fs";
import { dirname, join, parse, sep } from "node:path";
import { errorCode } from "../storage/files.ts";

export interface Owned {
  /** The file itself, with no link on the way. It need not exist. */
  readonly target: string;
  readonly found: Stats | null;
}

const maxLinks = 40;
/** Windows' drives as WSL shows them: every mode there reads 0777, and means nothing. */
const driveOfWindows = 0x01021997;

/** Throws, in words for people, where beckon must not write. `path` is absolute. */
export function resolveOwned(path: string, home: string, me = process.getuid?.() ?? null): Owned {
  const homes = [home, realOf(home)];
  const isInHome = (place: string) => homes.some((one) => place === one || place.startsWith(`${one}${sep}`));
  const judge = (place: string, found: Stats) => {
    if (me === null) return;
    const wrong = whatIsWrong(place, found, { me, isInHome: isInHome(place) });
    if (wrong) throw new Error(wrong);
  };

  let here = parse(path).root;
  let ahead = path.slice(here.length).split(sep).filter(Boolean);
  let found: Stats | null = null;
  for (let links = 0; ahead.length > 0; ) {
    const [name = "", ...rest] = ahead;
    ahead = rest;
    if (name === ".") continue;
    const next = name === ".." ? dirname(here) : join(here, name);
    found = look(next);
    if (!found) return { target: join(next, ...rest), found: null };
    judge(next, found);
    if (!found.isSymbolicLink()) {
      here = next;
      continue;
    }
    if (++links > maxLinks) throw new Error(`${path} is a link that leads round in a circle`);
    const to = readlinkSync(next);
    const { root } = parse(to);
    if (root !== "") here = root;
    ahead = [...to.slice(root.length).split(sep).filter(Boolean), ...rest];
  }
  return { target: here, found };
}

function whatIsWrong(
  place: string,
  found: Stats,
  { me, isInHome }: { me: number; isInHome: boolean },
): string | null {
  const isPerhapsRoots = !isInHome && !found.isFile();
  if (found.uid !== me && !(isPerhapsRoots && found.uid === 0)) {
    const hint = me === 0 ? "Run beckon as that user, without sudo." : `If it should be yours: chown it.`;
    return `${place} belongs to user ${found.uid}, not to you (${me}). ${hint}`;
  }
  const isOpen = !found.isSymbolicLink() && (found.mode & 0o1002) === 0o002;
  if (isOpen && statfsSync(place).type !== driveOfWindows) {
    return `${place} can be written by every user of this machine. First: chmod o-w '${place}'`;
  }
  return null;
}

function look(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (cause) {
    throw new Error(`${path} cannot be looked at (${errorCode(cause)})`, { cause });
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
