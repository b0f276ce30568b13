/** Files and folders taken away. No link is followed. */
import { existsSync, lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { tryTo } from "./private.ts";

/** Throws with the first that could not be removed. Not rmSync's `recursive`: under Wine 8, Bun 1.4.4 ends it with EFAULT. */
export function removeTree(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) {
    if (found) unlinkSync(path);
    return;
  }
  for (const name of readdirSync(path)) removeTree(join(path, name));
  rmdirSync(path);
}

/** The folders from `lowest` up to `topmost`, as far as nobody else uses them. */
export function removeEmpty(lowest: string, topmost: string | null): void {
  if (!topmost) return;
  tryTo(() => {
    for (let folder = lowest; folder.startsWith(topmost); folder = dirname(folder)) {
      if (existsSync(folder)) rmdirSync(folder);
    }
  });
}
