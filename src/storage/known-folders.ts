/**
 * Which folders hooks may use. A project's settings can set BECKON_HOME, HOME and the XDG variables for its hooks, and could name
 * a folder with a token, settings and programs of its own. So apart from the default folders in the user's home, a hook uses only
 * folders that the user has run beckon in. The default state folder has a file with them, one path per line. A hook loads this
 * for every event, so it imports little.
 */
import { type Paths, resolvePaths } from "./paths.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The default folders of the user whose home this is. On Windows variables name them. */
export function resolveDefaultPaths(home: string, env: Env): Paths {
  return resolvePaths(process.platform === "win32" ? { ...env, BECKON_HOME: "" } : { HOME: home });
}

/** The folders of `paths` that are neither default nor in `known`, the text of the file. */
export function listUnknownFolders(paths: Paths, defaults: Paths, known: string): string[] {
  // Blank lines equal no folder. (A hook calls this: the first call of filter() takes 0.2 ms.)
  const recorded = known.split("\n");
  // The folder of the settings is not one for the spool: users keep settings in a repository, and would publish prompts.
  const knownStates = [defaults.state, ...recorded];
  const isStateKnown = knownStates.includes(paths.state);
  const settings = settingsOf(paths);
  const isSettingsKnown = settings === settingsOf(defaults) || knownStates.includes(settings);
  return [
    ...(isStateKnown ? [] : [paths.state]),
    ...(isSettingsKnown || settings === paths.state ? [] : [settings]),
  ];
}

export const parseKnownFolders = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** The folder of the settings, which name files that beckon writes. */
const settingsOf = ({ config }: Paths): string => config.slice(0, -"/config.json".length);
