/** Hooks use only folders that the user has run beckon in. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { resolveDefaultPaths } from "../src/storage/known-folders.ts";

/** As if the user with this home folder had run beckon in the others. Does nothing if the home folder cannot be written. */
export function recordFolder(home: string, ...folders: readonly string[]): void {
  const { knownFolders } = resolveDefaultPaths(home, { USERPROFILE: home });
  try {
    mkdirSync(dirname(knownFolders), { recursive: true, mode: 0o700 });
    writeFileSync(knownFolders, folders.map((folder) => `${folder}\n`).join(""), { mode: 0o600 });
  } catch {}
}

/** Writes a copy of one of the forwarders in sh, which takes HOME for the user's home folder. Returns its path. */
export function copyScript(script: string, folder: string): string {
  const text = readFileSync(script, "utf8");
  const copy = join(folder, basename(script));
  const changed = text.replace("\nfind_home\n", "\nhome=$HOME\n");
  if (changed === text) throw new Error(`${script} does not call find_home`);
  writeFileSync(copy, changed);
  return copy;
}
