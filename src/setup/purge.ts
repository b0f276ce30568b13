/** --purge: removes beckon's own folders, but no file that is not beckon's, and follows no link. */
import { lstatSync, readdirSync, rmdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { limits } from "../core/limits.ts";
import { errorCode, ignoreErrors, readOr, readOwnFile, removeTree } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { readInstallRecord } from "./install-record.ts";

export interface PurgePlan {
  readonly folders: readonly string[];
  readonly remove: readonly string[];
  /** What is kept and why, for the user. */
  readonly kept: readonly string[];
}

/** Whether beckon has used the folder. Checks files that only beckon writes: `lock` or `config.json` could be any program's. */
export const isBeckonHere = (paths: Paths): boolean =>
  readInstallRecord(paths) !== null || /^Authorization: Bearer /.test(readText(paths.authHeader));

const readText = (path: string): string => readOr(() => readOwnFile(path, limits.maxSmallFileBytes), "");

/** Whether other files are in beckon's folder, which the user may have chosen. */
export const isShared = (paths: Paths): boolean =>
  readdirSync(paths.state).some((name) => !isOurs(name, paths) && !isOwnBin(join(paths.state, name)));

/** A folder that the user chose can be their home folder, and `backups` in it their own. So it is purged only if it has no other files. */
export function planPurge(paths: Paths, options: { isChosen: boolean; isBeckons: boolean }): PurgePlan {
  const { isChosen, isBeckons } = options;
  const plan = { folders: [] as string[], remove: [] as string[], kept: [] as string[] };
  for (const folder of new Set([paths.state, dirname(paths.config)])) {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (!stats) continue;
    if (!stats.isDirectory()) {
      plan.kept.push(`Kept ${folder}, which is a link or a file.`);
      continue;
    }
    const names = readdirSync(folder);
    const foreign = names.filter(
      (name) => !isOurs(name, paths) && !(isChosen && isOwnBin(join(folder, name))),
    );
    if (isChosen && names.length > 0 && (foreign.length > 0 || !isBeckons)) {
      const why =
        foreign.length > 0 ? `it also has other files: ${formatNames(foreign)}` : "beckon has not used it";
      plan.kept.push(`Kept ${folder}, because ${why}.`);
      continue;
    }
    plan.folders.push(folder);
    const own = names.filter((name) => !foreign.includes(name)).map((name) => join(folder, name));
    plan.remove.push(...own.filter((path) => path !== paths.knownFolders));
    if (own.includes(paths.knownFolders))
      plan.kept.push(`Kept ${paths.knownFolders}, which names other folders that you have run beckon in.`);
    if (foreign.length > 0)
      plan.kept.push(`Kept ${folder}, because it also has other files: ${formatNames(foreign)}.`);
  }
  return plan;
}

/** Returns what could not be removed. */
export function purge({ folders, remove }: PurgePlan): string[] {
  const failed: string[] = [];
  for (const path of remove) {
    try {
      removeTree(path);
    } catch (error) {
      failed.push(`${path} cannot be removed (${errorCode(error)})`);
    }
  }
  for (const folder of folders) ignoreErrors(() => rmdirSync(folder));
  return failed;
}

const maxListed = 5;

function formatNames(names: readonly string[]): string {
  const more = names.length - maxListed;
  return names
    .slice(0, maxListed)
    .join(", ")
    .concat(more > 0 ? ` and ${more} more` : "");
}

/** The `bin` folder of the install, with nothing but the binary in it, and the one that it replaced. */
function isOwnBin(path: string): boolean {
  if (basename(path) !== "bin" || !lstatSync(path).isDirectory()) return false;
  return /^beckon(\.exe)?(,beckon\.previous(\.exe)?)?$/.test(readdirSync(path).sort().join());
}

/** Also `snapshot.previous.json`, `beckon.log.1`, `history.db-wal`, `history.db-rows` and temporary files of a killed process. */
function isOurs(name: string, paths: Paths): boolean {
  const { state: _, ...files } = paths;
  return Object.values(files).some((path) => {
    const own = basename(path);
    if (own.endsWith(".db")) return isOfDatabase(name, own);
    const stem = own.replace(/\.(json|jsonl|log)$/, "");
    return name === own || name.startsWith(`${own}.`) || (own !== stem && name.startsWith(`${stem}.`));
  });
}

/** Not everything that starts with `history.`, which can be a file of the user's. */
function isOfDatabase(name: string, own: string): boolean {
  const file = name.replace(/-(wal|shm|rows)$/, "");
  return file === own || (file.startsWith(own.replace(/db$/, "damaged-")) && file.endsWith(".db"));
}
