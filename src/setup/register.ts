/** The hooks into a settings file, and into installed.json what was there before. */
import { rmSync } from "node:fs";
import type { Scope } from "../agents/claude/setup/scope.ts";
import { createBackup, pruneBackups, sha256 } from "../settings-file/backups.ts";
import { addHooks, listOwnHooks, type WantedHook } from "../settings-file/hooks.ts";
import { type RewriteOptions, rewriteSettings, type SettingsFile } from "../settings-file/index.ts";
import { ignoreErrors } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import {
  type InstalledFile,
  type InstallRecord,
  readInstallRecord,
  restoreInstalled,
  writeInstallRecord,
} from "./record.ts";

export interface RegisterOptions {
  readonly paths: Paths;
  readonly path: string;
  readonly scope: Scope;
  readonly wanted: readonly WantedHook[];
  readonly about: Omit<InstallRecord, "files" | "login" | "madeFolder">;
  /** The topmost folder that was made for beckon's own files just now. */
  readonly madeFolder: string | null;
  readonly rewrite: RewriteOptions;
}

/** null: everything was in place already. Only one at a time may use the same installed.json. */
export async function register(options: RegisterOptions): Promise<{ readonly backup: string | null } | null> {
  const { paths, path, scope, wanted, about } = options;
  const before = readInstallRecord(paths);
  const previous = before?.files.find((file) => file.path === path) ?? null;
  const recordWith = (file: InstalledFile): InstallRecord => ({
    ...about,
    files: [...(before?.files ?? []).filter((one) => one.path !== path), file],
    login: before?.login ?? false,
    madeFolder: before?.madeFolder ?? options.madeFolder,
  });
  const done: { change: { backup: string | null; entry: InstalledFile } | null } = { change: null };

  await rewriteSettings(
    path,
    (file) => {
      const { text } = addHooks(file.text, wanted);
      if (text === file.text) return null;
      return {
        text,
        // Before the file itself: should all end in between, uninstall finds no hooks where it looks for them.
        prepare: (madeFolder) => {
          const backup = file.bytes ? createBackup(paths.backups, path, file.bytes) : null;
          const entry = entryFor({ path, scope, file, text, previous, backup, madeFolder });
          const undo = () => {
            done.change = null;
            if (backup) ignoreErrors(() => rmSync(backup, { force: true }));
            restoreInstalled(paths, before);
          };
          try {
            writeInstallRecord(paths, recordWith(entry));
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

  const entry = done.change?.entry ?? previous ?? { path, scope, ...unknownBefore };
  const record = recordWith(entry);
  if (JSON.stringify(record) !== JSON.stringify(before)) writeInstallRecord(paths, record);
  pruneBackups(paths.backups, path, entry.before);
  return done.change;
}

const unknownBefore = { before: null, beforeSha256: null, wroteSha256: null, madeFolder: null };

interface Written {
  readonly path: string;
  readonly scope: Scope;
  readonly file: SettingsFile;
  readonly text: string;
  readonly previous: InstalledFile | null;
  readonly backup: string | null;
  readonly madeFolder: string | null;
}

/** What uninstall gives back: the file without a word of ours, as far as anybody knows it. */
function entryFor({ path, scope, file, text, previous, backup, madeFolder }: Written): InstalledFile {
  const wroteSha256 = sha256(text);
  if (file.bytes === null) return { ...unknownBefore, path, scope, wroteSha256, madeFolder };
  const found = sha256(file.bytes);
  if (previous?.wroteSha256 === found) return { ...previous, scope, wroteSha256 };
  const hasOurs = listOwnHooks(file.text ?? "").length > 0;
  return {
    path,
    scope,
    before: backup,
    beforeSha256: found,
    wroteSha256: hasOurs ? null : wroteSha256,
    madeFolder: previous?.madeFolder ?? null,
  };
}
