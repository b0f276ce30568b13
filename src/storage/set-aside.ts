/** Renames files that cannot be used, so that the next save does not overwrite what may be saved of them. */
import { readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { formatFileTime } from "../core/text/paths.ts";
import { errorCode, ignoreErrors } from "./files.ts";

/** How many damaged files of one name are kept. */
const maxDamaged = 3;

/** Returns the end of a sentence about what happened to the file. */
export function renameAside(path: string, target: string): string {
  try {
    renameSync(path, target);
    return ` and was renamed to ${basename(target)}`;
  } catch (error) {
    return ` and could not be renamed (${errorCode(error)})`;
  }
}

/** `desk.json` becomes `desk.damaged-DATE.json`; `suffix` comes after the date. Returns what `renameAside` returns. */
export function setDamagedAside(path: string, { now = new Date(), suffix = "", owner = path } = {}): string {
  const stem = owner.replace(/\.json$/, "");
  const renamed = renameAside(path, `${stem}.damaged-${formatFileTime(now)}${suffix}.json`);
  removeOldDamaged(stem);
  return renamed;
}

function removeOldDamaged(stem: string): void {
  const start = `${basename(stem)}.damaged-`;
  const folder = dirname(stem);
  const damaged = readdirSync(folder)
    .filter((name) => name.startsWith(start))
    .sort();
  // A folder that was in the file's place stays.
  for (const name of damaged.slice(0, -maxDamaged))
    ignoreErrors(() => rmSync(join(folder, name), { force: true }));
}
