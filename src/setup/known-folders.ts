/** Remembers the folders that the user runs beckon in: hooks use no others (storage/known-folders.ts says why). */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { limits } from "../core/limits.ts";
import {
  ensurePrivateFolder,
  errorCode,
  readOr,
  readOwnFile,
  removeEmptyFolders,
  writePrivateFile,
} from "../storage/files.ts";
import { listUnknownFolders, parseKnownFolders, resolveDefaultPaths } from "../storage/known-folders.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import type { AgentVariables } from "../system/app-environment.ts";
import type { Env } from "../system/folders.ts";
import { findOwnHome } from "../system/own-home.ts";
import { withFileLock } from "../user-files/file-lock.ts";

/** More are forgotten, the oldest first. */
const maxFolders = 64;

/** Read in this thread: to read it in another starts Bun's pool of threads, which the app keeps (2 MB). */
const findHome = (env: Env): Promise<string> => findOwnHome(env, (path) => readFileSync(path, "utf8"));

const readKnownFolders = ({ knownFolders }: Paths): string =>
  readOr(() => readOwnFile(knownFolders, limits.maxSmallFileBytes), "");

/** The folders that `env` names and hooks do not use. */
export async function findUnknownFolders(env: Env): Promise<string[]> {
  const defaults = resolveDefaultPaths(await findHome(env), env);
  return listUnknownFolders(resolvePaths(env), defaults, readKnownFolders(defaults));
}

/**
 * For a command with which the user chooses these folders. Returns a sentence for the user if they cannot be recorded. Throws in a
 * session of an agent, where a project's settings may have chosen them.
 */
export async function claimFolders(env: Env, { markers }: AgentVariables): Promise<string | null> {
  const [unknown] = await findUnknownFolders(env);
  if (unknown === undefined) return null;
  if (markers.some((name) => env[name] !== undefined)) {
    throw new Error(
      `you have not run beckon in ${unknown} yet, and in a session of an agent the project's settings may have set the variable that names it. Run this in a terminal of your own.`,
    );
  }
  return recordFolders(env);
}

/** Returns a sentence for the user if it cannot be done. */
export async function recordFolders(env: Env): Promise<string | null> {
  const defaults = resolveDefaultPaths(await findHome(env), env);
  const paths = resolvePaths(env);
  try {
    ensurePrivateFolder(defaults.state);
    await withFileLock(defaults.knownFolders, () => {
      const known = readKnownFolders(defaults);
      // A line break in a path would make two of it.
      const added = listUnknownFolders(paths, defaults, known).filter((folder) => !folder.includes("\n"));
      writeKnownFolders(defaults, [...parseKnownFolders(known), ...added].slice(-maxFolders));
    });
    return null;
  } catch (error) {
    return `${defaults.knownFolders} cannot be written (${errorCode(error)}), so hooks do not use ${paths.state}`;
  }
}

/** Does nothing for the default folders. */
export async function forgetFolders(env: Env): Promise<void> {
  const home = await findHome(env);
  const defaults = resolveDefaultPaths(home, env);
  const dropped = listUnknownFolders(resolvePaths(env), defaults, "");
  if (dropped.length === 0 || !existsSync(defaults.knownFolders)) return;
  await withFileLock(defaults.knownFolders, () => {
    const kept = parseKnownFolders(readKnownFolders(defaults)).filter((folder) => !dropped.includes(folder));
    writeKnownFolders(defaults, kept);
  });
  const [topmost = ""] = relative(home, defaults.state).split(sep);
  if (topmost !== "..") removeEmptyFolders(defaults.state, join(home, topmost));
}

function writeKnownFolders({ knownFolders }: Paths, folders: readonly string[]): void {
  if (folders.length === 0) rmSync(knownFolders, { force: true });
  else writePrivateFile(knownFolders, `${folders.join("\n")}\n`);
}
