/** installed.json: what the installer did, for the uninstaller and for doctor. */
import { rmSync } from "node:fs";
import type { FoundClaude } from "../agents/claude/setup/find.ts";
import { type Scope, scopes } from "../agents/claude/setup/scope.ts";
import { asRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { withFileLock } from "../settings-file/file-lock.ts";
import { ensurePrivateFolder, readSmallFile, writePrivateFile } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";

export interface InstalledFile {
  readonly path: string;
  readonly scope: Scope;
  /** The backup of what was there; null: there was no file. */
  readonly before: string | null;
  readonly beforeSha256: string | null;
  /** null: entries of ours stood in it before, and what it was without them is not known. */
  readonly wroteSha256: string | null;
  /** The topmost folder that was made for it. */
  readonly madeFolder: string | null;
}

export interface ProgramCopy {
  readonly sha256: string;
  /** Signing changes it. */
  readonly sourceSha256: string;
  /** The topmost folder that was made for it. */
  readonly madeFolder: string | null;
}

export interface InstallRecord {
  /** Of beckon. */
  readonly version: string;
  /** What the hooks call. */
  readonly binary: string;
  /** null: the hooks call a file that the installer has not put there. */
  readonly copy: ProgramCopy | null;
  readonly home: string | null;
  readonly claude: FoundClaude | null;
  readonly files: readonly InstalledFile[];
  readonly login: boolean;
  /** The topmost folder that was made for beckon's own files. */
  readonly madeFolder: string | null;
}

type Where = Pick<Paths, "state" | "installed">;

/** null: nothing was installed, or what is there makes no sense. */
export function readInstallRecord(paths: Where): InstallRecord | null {
  try {
    return asInstalled(JSON.parse(readSmallFile(paths.installed, limits.maxInstalledBytes)));
  } catch {
    return null;
  }
}

export function writeInstallRecord(paths: Where, installed: InstallRecord): void {
  ensurePrivateFolder(paths.state);
  writePrivateFile(paths.installed, `${JSON.stringify(installed, null, 2)}\n`);
}

/** Ten at once wait for each other, and each may have a slow disk. */
const turnMs = 120_000;

/** One install or uninstall at a time. */
export const inTurn = <Result>(paths: Where, act: () => Promise<Result>): Promise<Result> =>
  withFileLock(paths.installed, act, turnMs);

export async function recordLogin(paths: Where, login: boolean): Promise<void> {
  await withFileLock(paths.installed, () => {
    const installed = readInstallRecord(paths);
    if (installed && installed.login !== login) writeInstallRecord(paths, { ...installed, login });
  });
}

/** As it was before: also where there was none. */
export function restoreInstalled(paths: Where, before: InstallRecord | null): void {
  if (before) writeInstallRecord(paths, before);
  else rmSync(paths.installed, { force: true });
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

function asInstalled(value: unknown): InstallRecord | null {
  const { version, binary, home, copy, claude, files, login, madeFolder } = asRecord(value);
  if (typeof binary !== "string") return null;
  const { path, version: claudeVersion } = asRecord(claude);
  return {
    version: textOf(version) ?? "",
    binary,
    copy: asCopy(copy),
    home: textOf(home),
    claude:
      typeof path === "string" && typeof claudeVersion === "string" ? { path, version: claudeVersion } : null,
    files: Array.isArray(files) ? files.flatMap(asFile) : [],
    login: login === true,
    madeFolder: textOf(madeFolder),
  };
}

function asCopy(value: unknown): ProgramCopy | null {
  const { sha256, sourceSha256, madeFolder } = asRecord(value);
  if (typeof sha256 !== "string" || typeof sourceSha256 !== "string") return null;
  return { sha256, sourceSha256, madeFolder: textOf(madeFolder) };
}

function asFile(value: unknown): InstalledFile[] {
  const { path, scope, before, beforeSha256, wroteSha256, madeFolder } = asRecord(value);
  const known = scopes.find((one) => one === scope);
  if (typeof path !== "string" || !known) return [];
  return [
    {
      path,
      scope: known,
      before: textOf(before),
      beforeSha256: textOf(beforeSha256),
      wroteSha256: textOf(wroteSha256),
      madeFolder: textOf(madeFolder),
    },
  ];
}
