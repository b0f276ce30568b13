/** The mark that a person wants beckon off: they quit it, and hooks leave it off until it is started again. */
import { lstatSync, rmSync } from "node:fs";
import { ensurePrivateFolder, ignoreErrors, writePrivateFile } from "./files.ts";
import type { Paths } from "./paths.ts";

type Places = Pick<Paths, "state" | "off">;

/** `by` is for people who look into the file. Throws where it cannot be written. */
export function markOff(paths: Places, by: string): void {
  ensurePrivateFolder(paths.state);
  writePrivateFile(
    paths.off,
    `${new Date().toISOString()} ${by}: hooks do not start beckon while this file is here\n`,
  );
}

export function isOff(paths: Places): boolean {
  return lstatSync(paths.off, { throwIfNoEntry: false }) !== undefined;
}

export function clearOff(paths: Places): void {
  ignoreErrors(() => rmSync(paths.off, { force: true }));
}
