/** Sockets that beckon may talk to. */
import { realpathSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";

/** What a container shows for users that it does not know, such as the root of the machine around it. */
const unknownUid = 65_534;
const sticky = 0o1000;
const worldWritable = 0o002;

/**
 * The path of the socket itself. Throws if it is not the user's own, with the system's error if there is none. No other user may be
 * able to change a folder on the way: in a folder for temporary files, they could put a socket of their own there after the check.
 */
export function findOwnSocket(path: string): string {
  const stats = statSync(path);
  if (!isAbsolute(path) || !stats.isSocket() || stats.uid !== process.getuid?.())
    throw new Error(`${path} is not your own socket`);
  const target = realpathSync(path);
  let folder = target;
  do {
    folder = dirname(folder);
    if (!isSafeFolder(statSync(folder))) throw new Error(`${folder} can be changed by other users`);
  } while (folder !== dirname(folder));
  return target;
}

function isSafeFolder({ uid, mode }: Stats): boolean {
  const isOwners = uid === process.getuid?.() || uid === 0 || uid === unknownUid;
  return isOwners && ((mode & worldWritable) === 0 || (mode & sticky) !== 0);
}

export function isOwnSocket(path: string): boolean {
  try {
    return findOwnSocket(path) !== "";
  } catch {
    return false;
  }
}
