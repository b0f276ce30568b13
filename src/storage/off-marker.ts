/** A file that exists while the user wants beckon off. Hooks do not start it until the user starts it again. */
import { lstatSync, rmSync } from "node:fs";
import { ensurePrivateFolder, ignoreErrors, writePrivateFile } from "./files.ts";
import type { Paths } from "./paths.ts";

type OffPaths = Pick<Paths, "state" | "offMarker">;

/** `by` is only for a user who reads the file. Throws if it cannot be written. */
export function markOff(paths: OffPaths, by: string): void {
  ensurePrivateFolder(paths.state);
  writePrivateFile(
    paths.offMarker,
    `${new Date().toISOString()} ${by}: hooks do not start beckon while this file is here\n`,
  );
}

export function isOff(paths: OffPaths): boolean {
  return lstatSync(paths.offMarker, { throwIfNoEntry: false }) !== undefined;
}

export function clearOff(paths: OffPaths): void {
  ignoreErrors(() => rmSync(paths.offMarker, { force: true }));
}
