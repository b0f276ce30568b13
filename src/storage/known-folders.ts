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

/** The folders of `paths` that are neither default nor in `record`, the text of the file. */
export function listUnknownFolders(paths: Paths, defaults: Paths, record: string): string[] {
  const known = [...listFolders(defaults), ...parseRecord(record)];
  return listFolders(paths).filter((folder) => !known.includes(folder));
}

export const parseRecord = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** The state folder and, if it is another, that of the settings: they name files that beckon writes. */
function listFolders({ state, config }: Paths): string[] {
  const settings = config.slice(0, -"/config.json".length);
  return settings === state ? [state] : [state, settings];
}
