/** Writes beckon's entries into one file of an agent's, or removes them. installed.json records what was there before. */
import { realpathSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { OwnEntries, Registration, Scope } from "../agents/agent.ts";
import { findRelativePath } from "../core/text/paths.ts";
import { ignoreErrors, removeEmptyFolders } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { createBackup, pruneBackups, readBackup, sha256 } from "../user-files/backups.ts";
import { type RewriteOptions, readStable, rewriteSettings, type SettingsFile } from "../user-files/index.ts";
import {
  type InstalledFile,
  type InstallRecord,
  readInstallRecord,
  restoreInstallRecord,
  writeInstallRecord,
} from "./install-record.ts";

export interface RegisterOptions {
  readonly paths: Paths;
  readonly agent: string;
  readonly path: string;
  readonly scope: Scope;
  readonly registration: Registration;
  readonly entries: OwnEntries;
  readonly record: Omit<InstallRecord, "files" | "login" | "madeFolder">;
  /** The topmost folder that this install has created for beckon's own files. */
  readonly madeFolder: string | null;
  readonly rewrite: RewriteOptions;
}

/** null if everything was in place already. Callers hold the install lock. */
export async function register(options: RegisterOptions): Promise<{ readonly backup: string | null } | null> {
  const { paths, path } = options;
  const before = readInstallRecord(paths);
  const previous = before?.files.find((file) => file.path === path) ?? null;
  const createRecord = (file: InstalledFile): InstallRecord => ({
    ...options.record,
    files: [...(before?.files ?? []).filter((other) => other.path !== path), file],
    login: before?.login ?? false,
    madeFolder: before?.madeFolder ?? options.madeFolder,
  });
  const done: { change: { backup: string | null; entry: InstalledFile } | null } = { change: null };

  await rewriteSettings(
    path,
    (file) => {
      refuseOutside(file, options.scope);
      const text = options.registration.add(file.text);
      if (text === file.text) return null;
      return {
        text,
        // Written before the file itself: if everything stops in between, uninstall looks for hooks and finds none.
        prepare: (madeFolder) => {
          const backup = file.bytes ? createBackup(paths.backups, path, file.bytes) : null;
          const entry = createEntry({ options, file, text, previous, backup, madeFolder });
          const undo = () => {
            done.change = null;
            if (backup) ignoreErrors(() => rmSync(backup, { force: true }));
            restoreInstallRecord(paths, before);
          };
          try {
            writeInstallRecord(paths, createRecord(entry));
          } catch (error) {
            undo();
            throw error;
          }
          done.change = { backup, entry };
          return undo;
        },
      };
    },
    options.rewrite,
  );

  const entry = done.change?.entry ?? previous ?? { ...identify(options), ...unknownBefore };
  const record = createRecord(entry);
  if (JSON.stringify(record) !== JSON.stringify(before)) writeInstallRecord(paths, record);
  pruneBackups(paths.backups, path, entry.before);
  return done.change;
}

/**
 * Throws an error for the user if a file of a project is a link that leads out of it: its author could choose any of
 * the user's files. The settings are in a folder of the project's.
 */
export function refuseOutside({ path, target }: SettingsFile, scope: Scope): void {
  if (scope === "user") return;
  const project = dirname(dirname(path));
  // On Windows, a short name (RUNNER~1) in the path is not a link, and stays in `target`.
  const isInside = [project, realpathSync(project)].some(
    (folder) => findRelativePath(folder, target) !== null,
  );
  if (!isInside)
    throw new Error(
      `${path} leads out of its project, to ${target}, so beckon does not change it. Replace the link by a file.`,
    );
}

const identify = ({ agent, path, scope }: RegisterOptions) => ({ agent, path, scope });

const unknownBefore = { before: null, beforeSha256: null, wroteSha256: null, madeFolder: null };

interface WrittenFile {
  readonly options: RegisterOptions;
  readonly file: SettingsFile;
  readonly text: string;
  readonly previous: InstalledFile | null;
  readonly backup: string | null;
  readonly madeFolder: string | null;
}

/** Records the file as it was without beckon's entries, as far as that is known: uninstall restores it. */
function createEntry({ options, file, text, previous, backup, madeFolder }: WrittenFile): InstalledFile {
  const wroteSha256 = sha256(text);
  if (file.bytes === null) return { ...identify(options), ...unknownBefore, wroteSha256, madeFolder };
  const foundSha256 = sha256(file.bytes);
  if (previous?.wroteSha256 === foundSha256) return { ...previous, scope: options.scope, wroteSha256 };
  const hasOwn = options.entries.findHomes(file.text ?? "").length > 0;
  return {
    ...identify(options),
    before: backup,
    beforeSha256: foundSha256,
    wroteSha256: hasOwn ? null : wroteSha256,
    madeFolder: previous?.madeFolder ?? null,
  };
}

export type UnregisterOutcome =
  /** beckon had no entries in the file. */
  | "nothing"
  /** The file is byte for byte as it was before install. */
  | "restored"
  /** Install had created the file. */
  | "removed"
  /** Somebody else has changed the file since install: only beckon's entries were removed. */
  | "entries";

export interface UnregisterOptions {
  readonly path: string;
  readonly entries: OwnEntries;
  /** null if install did not write the file. */
  readonly recorded: InstalledFile | null;
}

export async function planUnregister(options: UnregisterOptions, home: string): Promise<UnregisterOutcome> {
  return (await readStable(options.path, home, (file) => decideRemoval(file, options))).decision.outcome;
}

export async function unregister(
  options: UnregisterOptions,
  paths: Paths,
  rewrite: RewriteOptions,
): Promise<{ readonly outcome: UnregisterOutcome; readonly backup: string | null }> {
  const { path, recorded } = options;
  const done = { outcome: "nothing" as UnregisterOutcome, backup: null as string | null };
  const rewritten = await rewriteSettings(
    path,
    (file) => {
      const { outcome, text } = decideRemoval(file, options);
      done.outcome = outcome;
      if (outcome === "nothing") return null;
      const prepare = () => {
        // What the user has added to a file of beckon's own is kept too.
        const isForeign = outcome === "entries" || (outcome === "removed" && !isAsWritten(file, recorded));
        const backup = isForeign && file.bytes ? createBackup(paths.backups, path, file.bytes) : null;
        done.backup = backup;
        return () => {
          done.backup = null;
          if (backup) ignoreErrors(() => rmSync(backup, { force: true }));
        };
      };
      return { text, prepare };
    },
    rewrite,
  );
  if (done.outcome === "removed" && rewritten) {
    removeEmptyFolders(dirname(rewritten.file.target), recorded?.madeFolder ?? null);
  }
  const restored = recorded?.before;
  if (done.outcome === "restored" && restored) ignoreErrors(() => rmSync(restored, { force: true }));
  return done;
}

interface Removal {
  readonly outcome: UnregisterOutcome;
  readonly text: string | Buffer | null;
}

const isAsWritten = ({ bytes }: SettingsFile, recorded: InstalledFile | null): boolean =>
  bytes !== null && recorded?.wroteSha256 === sha256(bytes);

function decideRemoval({ bytes, text }: SettingsFile, { entries, recorded }: UnregisterOptions): Removal {
  if (bytes === null || text === null) return { outcome: "nothing", text: null };
  if (recorded?.wroteSha256 === sha256(bytes)) {
    if (recorded.before === null) return { outcome: "removed", text: null };
    const before = readBackup(recorded.before, recorded.beforeSha256);
    if (before) return { outcome: "restored", text: before };
  }
  const rest = entries.remove(text);
  if (rest === text) return { outcome: "nothing", text };
  const isCreated = recorded !== null && recorded.wroteSha256 !== null && recorded.before === null;
  if ((isCreated || entries.isOwnFile) && entries.isEmpty(rest)) return { outcome: "removed", text: null };
  return { outcome: "entries", text: rest };
}
