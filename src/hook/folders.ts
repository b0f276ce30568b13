/** Which state folder a hook uses: the one that its variables name, if the user has run beckon there. */
import { listUnknownFolders, resolveDefaultPaths } from "../storage/known-folders.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import type { Env } from "../system/folders.ts";
import { findOwnHome } from "../system/own-home.ts";
import { readOwnSmall } from "./own-file.ts";

export interface HookFolders {
  readonly paths: Paths;
  /** A sentence for the log if the folder that the variables name is not used. */
  readonly ignored: string | null;
}

/** `named` is what the variables name. The result has the same object if it may be used. */
export async function chooseFolders(env: Env, named: Paths): Promise<HookFolders> {
  const findingHome = findOwnHome(env);
  // HOME is nearly always right: its file is read while the system is asked, not after that.
  const likely = resolveDefaultPaths(env.HOME || "/", env);
  const readingLikely = isDefault(named, likely) ? null : readOwnSmall(likely.knownFolders);
  const defaults = resolveDefaultPaths(await findingHome, env);
  if (isDefault(named, defaults)) return { paths: named, ignored: null };
  const isLikely = defaults.knownFolders === likely.knownFolders;
  const known = (await (isLikely ? readingLikely : readOwnSmall(defaults.knownFolders))) ?? "";
  const [unknown] = listUnknownFolders(named, defaults, known);
  if (unknown === undefined) return { paths: named, ignored: null };
  const others = resolvePaths({ ...env, BECKON_HOME: "" });
  const isOtherKnown = listUnknownFolders(others, defaults, known).length === 0;
  return { paths: isOtherKnown ? others : defaults, ignored: describeIgnored(unknown) };
}

const isDefault = (paths: Paths, defaults: Paths): boolean =>
  listUnknownFolders(paths, defaults, "").length === 0;

const describeIgnored = (folder: string): string =>
  `the folder ${folder} is not used, because you have not run beckon in it: a project's settings can set BECKON_HOME, HOME and XDG variables. To use it, run in a terminal, with the same variables: beckon start`;
