/** The home folder with the default state folder. It says which other folders the user has run beckon in. */
import { type Env, homeOf } from "./folders.ts";
import { isCompiled } from "./is-compiled.ts";
import { findUserHome, type ReadText } from "./user-home.ts";

/**
 * From source, beckon is run by developers and by tests, which have home folders of their own. (build.ts makes a binary for tests
 * that follows HOME too.) Where the system does not know the user's home folder, HOME is all there is.
 */
export async function findOwnHome(env: Env, readText?: ReadText): Promise<string> {
  if (!isCompiled() || (await isInUsersFolder(env.HOME))) return homeOf(env);
  return (await findUserHome(readText)) ?? homeOf(env);
}

/** On macOS the system's answer takes a program, some 5 ms. Only root creates folders in /Users, so no project made this one. */
async function isInUsersFolder(home: string | undefined): Promise<boolean> {
  if (process.platform !== "darwin" || !home || !/^\/Users\/[^/]+$/.test(home)) return false;
  const stat = await Bun.file(home)
    .stat()
    .catch(() => null);
  return stat?.isDirectory() === true && stat.uid === process.getuid?.();
}
