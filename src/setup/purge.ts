/** beckon's own folders, without what somebody else put there. No link is followed. */
import { lstatSync, readdirSync, rmdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { limits } from "../core/limits.ts";
import { errorCode, ignoreErrors, readSmallFile, removeTree } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { readInstallRecord } from "./record.ts";

export interface PurgePlan {
  readonly folders: readonly string[];
  readonly remove: readonly string[];
  /** What stays, with why. */
  readonly kept: readonly string[];
}

/** Asked before anything is removed. By what only beckon writes: a file named `lock` or `config.json` may be anybody's. */
export const isBeckonHere = (paths: Paths): boolean =>
  readInstallRecord(paths) !== null || /^Authorization: Bearer /.test(beginning(paths.authHeader));

function beginning(path: string): string {
  try {
    return readSmallFile(path, limits.maxSmallFileBytes);
  } catch {
    return "";
  }
}

/** In a folder that the person chose, what has the name of one of our folders may be theirs. */
export const isShared = (paths: Paths): boolean =>
  readdirSync(paths.state).some((name) => !isOurs(name, paths) && !isOwnBin(join(paths.state, name)));

/** A folder that the person chose may be their home, and `backups` in it their own: it must hold nothing but beckon's files. */
export function planPurge(paths: Paths, given: { isChosen: boolean; isBeckons: boolean }): PurgePlan {
  const { isChosen, isBeckons } = given;
  const plan = { folders: [] as string[], remove: [] as string[], kept: [] as string[] };
  for (const folder of new Set([paths.state, dirname(paths.config)])) {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (!found) continue;
    if (!found.isDirectory()) {
      plan.kept.push(`${folder} is a link or a file: it stays, and what it leads to.`);
      continue;
    }
    const names = readdirSync(folder);
    const foreign = names.filter(
      (name) => !isOurs(name, paths) && !(isChosen && isOwnBin(join(folder, name))),
    );
    if (isChosen && names.length > 0 && (foreign.length > 0 || !isBeckons)) {
      const what =
        foreign.length > 0 ? `holds more than beckon's files: ${listed(foreign)}` : "is not beckon's";
      plan.kept.push(`${folder} ${what}. It stays; remove from it what you like.`);
      continue;
    }
    plan.folders.push(folder);
    plan.remove.push(...names.filter((name) => !foreign.includes(name)).map((name) => join(folder, name)));
    if (foreign.length > 0) plan.kept.push(`${folder} stays, with what is not beckon's: ${listed(foreign)}.`);
  }
  return plan;
}

/** What could not be removed. */
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

function listed(names: readonly string[]): string {
  const more = names.length - maxListed;
  return names
    .slice(0, maxListed)
    .join(", ")
    .concat(more > 0 ? ` and ${more} more` : "");
}

/** Where the installer puts the binary; before it is removed, nothing else is in there. */
function isOwnBin(path: string): boolean {
  if (basename(path) !== "bin" || !lstatSync(path).isDirectory()) return false;
  return /^beckon(\.exe)?$/.test(readdirSync(path).join());
}

/** `snapshot.json` is, and so are `snapshot.previous.json`, `beckon.log.1` and what a killed process left half-written. */
function isOurs(name: string, paths: Paths): boolean {
  const { state: _, ...files } = paths;
  return Object.values(files).some((path) => {
    const own = basename(path);
    const stem = own.replace(/\.(json|jsonl|log)$/, "");
    return name === own || name.startsWith(`${own}.`) || (own !== stem && name.startsWith(`${stem}.`));
  });
}
