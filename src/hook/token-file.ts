/** The token for a beckon elsewhere, from the file that BECKON_TOKEN_FILE names. */
import { basename } from "node:path";
import { limits } from "../core/limits.ts";
import { readOwnFile } from "../storage/files.ts";

/** The file with the token of this machine's app, in any state folder. */
const ownName = "auth-header";

/**
 * The line `Authorization: Bearer …`. Null if the file is not a regular file of this user, is a link (a project could link to
 * the token of this machine's app), or is that token itself.
 */
export function readTokenFile(path: string): string | null {
  if (basename(path).toLowerCase() === ownName) return null;
  try {
    const [line = ""] = readOwnFile(path, limits.maxSmallFileBytes).split("\n");
    return /^Authorization: *\S[^\r]*$/i.test(line.trim()) ? line.trim() : null;
  } catch {
    return null;
  }
}
