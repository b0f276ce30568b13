/** installed.json: what install did, for uninstall and doctor. */
import { existsSync, rmSync } from "node:fs";
import { type AgentProgram, type Scope, scopes } from "../agents/agent.ts";
import { defaultAgent } from "../agents/index.ts";
import { asRecord, readString } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { ensurePrivateFolder, readOwnFile, writePrivateFile } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { setDamagedAside } from "../storage/set-aside.ts";
import { withFileLock } from "../user-files/file-lock.ts";

export interface InstalledFile {
  readonly agent: string;
  readonly path: string;
  readonly scope: Scope;
  /** The backup of the file. null if there was no file. */
  readonly before: string | null;
  readonly beforeSha256: string | null;
  /** null if beckon's entries were in the file already, so that its original text is unknown. */
  readonly wroteSha256: string | null;
  /** The topmost folder that install created for the file. */
  readonly madeFolder: string | null;
}

export interface ProgramCopy {
  readonly sha256: string;
  /** Differs from `sha256` if the copy was signed. */
  readonly sourceSha256: string;
  /** The topmost folder that install created for the copy. */
  readonly madeFolder: string | null;
}

export interface InstallRecord {
  /** beckon's version. */
  readonly version: string;
  /** The beckon that the hooks call. */
  readonly binary: string;
  /** null if install did not copy the binary there. */
  readonly copy: ProgramCopy | null;
  /** BECKON_HOME, if it was set. */
  readonly home: string | null;
  /** The program of each agent that was found, by the agent's id. */
  readonly programs: Readonly<Record<string, AgentProgram>>;
  readonly files: readonly InstalledFile[];
  readonly login: boolean;
  /** The topmost folder that install created for beckon's own files. */
  readonly madeFolder: string | null;
}

type RecordPaths = Pick<Paths, "state" | "installed">;

/** null if nothing is installed, or the file is damaged. */
export function readInstallRecord(paths: RecordPaths): InstallRecord | null {
  try {
    return parseKnownFolders(JSON.parse(readOwnFile(paths.installed, limits.maxInstalledBytes)));
  } catch {
    return null;
  }
}

export function writeInstallRecord(paths: RecordPaths, record: InstallRecord): void {
  // Each program is a field of its own, named by the agent's id: that is how the first version wrote `claude`.
  const { version, binary, copy, home, programs, files, login, madeFolder } = record;
  const fields = { version, binary, copy, home, ...programs, files, login, madeFolder };
  ensurePrivateFolder(paths.state);
  // A damaged record may still show a user where the backups of their settings are.
  if (existsSync(paths.installed) && readInstallRecord(paths) === null) setDamagedAside(paths.installed);
  writePrivateFile(paths.installed, `${JSON.stringify(fields, null, 2)}\n`);
}

/** Ten installs at once wait for each other, and each may have a slow disk. */
const lockTimeoutMs = 120_000;

/** Runs one install or uninstall at a time. */
export const withInstallLock = <Result>(paths: RecordPaths, act: () => Promise<Result>): Promise<Result> =>
  withFileLock(paths.installed, act, lockTimeoutMs);

export async function recordLogin(paths: RecordPaths, login: boolean): Promise<void> {
  await withFileLock(paths.installed, () => {
    const record = readInstallRecord(paths);
    if (record && record.login !== login) writeInstallRecord(paths, { ...record, login });
  });
}

/** Puts back an earlier record, or removes the file if there was none. */
export function restoreInstallRecord(paths: RecordPaths, record: InstallRecord | null): void {
  if (record) writeInstallRecord(paths, record);
  else rmSync(paths.installed, { force: true });
}

function parseKnownFolders(value: unknown): InstallRecord | null {
  const { version, binary, home, copy, files, login, madeFolder, ...others } = asRecord(value);
  if (typeof binary !== "string") return null;
  return {
    version: readString(version) ?? "",
    binary,
    copy: parseCopy(copy),
    home: readString(home),
    programs: parsePrograms(others),
    files: Array.isArray(files) ? files.flatMap(parseFile) : [],
    login: login === true,
    madeFolder: readString(madeFolder),
  };
}

function parsePrograms(fields: Readonly<Record<string, unknown>>): InstallRecord["programs"] {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([agent, value]) => {
      const { path, version } = asRecord(value);
      return typeof path === "string" && typeof version === "string" ? [[agent, { path, version }]] : [];
    }),
  );
}

function parseCopy(value: unknown): ProgramCopy | null {
  const { sha256, sourceSha256, madeFolder } = asRecord(value);
  if (typeof sha256 !== "string" || typeof sourceSha256 !== "string") return null;
  return { sha256, sourceSha256, madeFolder: readString(madeFolder) };
}

function parseFile(value: unknown): InstalledFile[] {
  const { agent, path, scope, before, beforeSha256, wroteSha256, madeFolder } = asRecord(value);
  const known = scopes.find((name) => name === scope);
  if (typeof path !== "string" || !known) return [];
  return [
    {
      // The first version wrote no agent.
      agent: readString(agent) ?? defaultAgent,
      path,
      scope: known,
      before: readString(before),
      beforeSha256: readString(beforeSha256),
      wroteSha256: readString(wroteSha256),
      madeFolder: readString(madeFolder),
    },
  ];
}
