/** Sockets that beckon may talk to. */
import { statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { resolveOwnedPath } from "../../../settings-file/owned-path.ts";

/**
 * The path of the socket itself. Throws if it is not the user's own, with the system's error if there is none. Every folder and link on
 * the way must be the user's or root's: in a folder for temporary files, another user could put a socket of their own there after
 * the check.
 */
export function findOwnSocket(path: string): string {
  const stats = statSync(path);
  const { target } = resolveOwnedPath(path, dirname(path));
  if (!isAbsolute(path) || !stats.isSocket()) throw new Error(`${path} is not a socket`);
  return target;
}

export function isOwnSocket(path: string): boolean {
  try {
    return findOwnSocket(path) !== "";
  } catch {
    return false;
  }
}
