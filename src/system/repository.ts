/** Finds the repository that a folder belongs to. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder with `.git`, at or above this one. null if there is none. */
export function findRepository(folder: string): string | null {
  if (existsSync(join(folder, ".git"))) return folder;
  const parent = dirname(folder);
  return parent === folder ? null : findRepository(parent);
}
