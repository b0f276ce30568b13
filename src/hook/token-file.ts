/** The token for a beckon elsewhere, from the file that BECKON_TOKEN_FILE names. */
import { basename } from "node:path";
import { limits } from "../core/limits.ts";
import { readOwnFile } from "../storage/files.ts";

/**
 * The file with the token of this machine's app, in any state folder: `auth-header`. Windows opens it also as `auth-header.`,
 * `auth-header::$DATA` and `AUTH-H~1`, and HFS+ ignores some characters beyond ASCII.
 */
const ownName = /^auth-h(?:eader[. ]*(?::.*)?|~\d+)$/i;

/**
 * The line `Authorization: Bearer …`. Null if the file is not a regular file of this user, is a link (a project could link to
 * the token of this machine's app), or is that token itself.
 */
export function readTokenFile(path: string): string | null {
  if (ownName.test(basename(path).replace(/[^ -~]/g, ""))) return null;
  try {
    const [line = ""] = readOwnFile(path, limits.maxSmallFileBytes).split("\n");
    return /^Authorization: *\S[^\r]*$/i.test(line.trim()) ? line.trim() : null;
  } catch {
    return null;
  }
}
