/** The lines that install.sh adds to the profile of the user's shell, so that typing `beckon` finds it. Uninstall removes them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Env, homeOf } from "../system/folders.ts";
import { readStable, rewriteSettings } from "../user-files/index.ts";

/** install.sh writes it above its line. */
const mark = "# Added by the installer of beckon";

/** Where install.sh may have written. */
function listProfiles(env: Env): readonly string[] {
  const home = homeOf(env);
  const config = env.XDG_CONFIG_HOME || join(home, ".config");
  const names = [".zshrc", ".bashrc", ".profile"].map((name) => join(home, name));
  const paths = [join(env.ZDOTDIR || home, ".zshrc"), ...names, join(config, "fish/conf.d/beckon.fish")];
  return [...new Set(paths)].filter((path) => existsSync(path));
}

/** Without the lines that add the folder. */
function removePathLines(text: string, folder: string): string {
  return [`export PATH="${folder}:$PATH"`, `fish_add_path "${folder}"`].reduce(
    (rest, line) => rest.replace(`\n${mark}\n${line}\n`, () => "").replace(`${mark}\n${line}\n`, () => ""),
    text,
  );
}

/** The files that have such lines. */
export async function findPathLines(env: Env, folder: string): Promise<readonly string[]> {
  const found = await Promise.all(
    listProfiles(env).map(async (path) => {
      const { decision } = await readStable(path, homeOf(env), ({ text }) => hasPathLines(text, folder));
      return decision ? [path] : [];
    }),
  );
  return found.flat();
}

const hasPathLines = (text: string | null, folder: string): text is string =>
  text !== null && removePathLines(text, folder) !== text;

/** A file with nothing else in it is removed: the install script has created it. */
export async function clearProfile(path: string, env: Env, folder: string): Promise<void> {
  await rewriteSettings(
    path,
    ({ text }) => (hasPathLines(text, folder) ? { text: removePathLines(text, folder) || null } : null),
    { home: homeOf(env) },
  );
}
