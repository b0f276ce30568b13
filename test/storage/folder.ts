import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Paths, resolvePaths } from "../../src/storage/paths.ts";

const folders: string[] = [];

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "beckon-storage-"));
  folders.push(folder);
  return folder;
}

/** For the afterAll of each test file. */
export function removeTemporaryFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export function temporaryPaths(): Paths {
  return resolvePaths({ BECKON_HOME: join(temporaryFolder(), "home") });
}

export const readMode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Mounts a small file system. Needs root. */
export async function withTmpfs(size: string, use: (folder: string) => Promise<void> | void): Promise<void> {
  const folder = temporaryFolder();
  run("mount", "-t", "tmpfs", "-o", `size=${size},mode=0700`, "tmpfs", folder);
  try {
    await use(folder);
  } finally {
    run("umount", "-l", folder);
  }
}

export function makeReadOnly(mounted: string): void {
  run("mount", "-o", "remount,ro", mounted);
}

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}
