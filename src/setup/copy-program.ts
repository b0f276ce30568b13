/** A copy of a program, in place whole or not at all; one that runs from there keeps the file it runs from. */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Exec } from "../core/ports.ts";
import { describeSystemError } from "../settings-file/index.ts";
import { errorCode, ignoreErrors, removeEmptyFolders, syncFolder } from "../storage/files.ts";
import { sha256OfFile } from "./same-file.ts";

export interface Copied {
  readonly sha256: string;
  readonly sourceSha256: string;
  /** The topmost folder that had to be made for it. */
  readonly madeFolder: string | null;
  readonly warnings: readonly string[];
}

interface System {
  readonly exec: Exec;
  readonly platform: NodeJS.Platform;
}

/** The folder is made first, as `within` needs it for a lock; a copy that fails leaves neither. */
export async function copyProgram<Result>(
  program: { readonly readFrom: string },
  to: string,
  system: System,
  within: (copy: () => Promise<Copied>) => Promise<Result>,
): Promise<Result> {
  const folder = dirname(to);
  let madeFolder: string | null = null;
  try {
    madeFolder = mkdirSync(folder, { recursive: true, mode: 0o755 }) ?? null;
    return await within(async () => ({ ...(await copy(program.readFrom, to, system)), madeFolder }));
  } catch (cause) {
    removeEmptyFolders(folder, madeFolder);
    throw new Error(describeSystemError(cause) ?? (cause as Error).message, { cause });
  }
}

async function copy(
  from: string,
  to: string,
  { exec, platform }: System,
): Promise<Omit<Copied, "madeFolder">> {
  const fresh = `${to}.beckon-tmp`;
  const warnings: string[] = [];
  try {
    rmSync(fresh, { force: true });
    copyFileSync(from, fresh);
    chmodSync(fresh, 0o755);
    if (platform === "darwin") warnings.push(...(await signAgain(fresh, exec)));
    sync(fresh);
    const copied = { sha256: sha256OfFile(fresh), sourceSha256: sha256OfFile(from), warnings };
    if (platform === "win32") moveAside(to);
    renameSync(fresh, to);
    ignoreErrors(() => syncFolder(dirname(to)));
    return copied;
  } finally {
    ignoreErrors(() => rmSync(fresh, { force: true }));
  }
}

function sync(path: string): void {
  const fd = openSync(path, "r+");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** macOS kills a program whose signature does not fit, and asks about one that a browser has downloaded. */
async function signAgain(path: string, exec: Exec): Promise<string[]> {
  // Fails where the mark is not there, which is as good.
  await exec(["/usr/bin/xattr", "-d", "com.apple.quarantine", path]);
  const sign = ["/usr/bin/codesign", "--force", "--sign", "-", "--identifier", "beckon", path];
  const { code, stderr } = await exec(sign, { timeoutMs: signMs });
  if (code === 0) return [];
  return [
    `The copy could not be signed (${stderr.trim().slice(0, 200)}): should macOS refuse to run it, build beckon here.`,
  ];
}

const signMs = 30_000;

/** Windows renames a program that runs, but does not remove or replace it. */
export function moveAside(path: string): void {
  removeOld(path);
  try {
    renameSync(path, `${path}.old-${Date.now()}`);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
  removeOld(path);
}

/** Those that no longer run. */
export function removeOld(path: string): void {
  ignoreErrors(() => {
    for (const name of readdirSync(dirname(path))) {
      const isOld = name.startsWith(`${basename(path)}.old-`);
      if (isOld) ignoreErrors(() => rmSync(join(dirname(path), name), { force: true }));
    }
  });
}
