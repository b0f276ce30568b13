/** beckon's hooks out of a settings file: byte for byte as before where nobody else wrote, else entry by entry. */
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { createBackup, readBackup, sha256 } from "../settings-file/backups.ts";
import { isEmptySettings, removeHooks } from "../settings-file/hooks.ts";
import {
  type RewriteOptions,
  readStable,
  rewriteSettings,
  type SettingsFile,
} from "../settings-file/index.ts";
import { ignoreErrors, removeEmptyFolders } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import type { InstalledFile } from "./record.ts";

export type Unregistered =
  /** Nothing of ours was in it. */
  | "nothing"
  | "as before"
  /** It was made for the hooks. */
  | "removed"
  /** Somebody else has written in it since: only our entries went. */
  | "entries";

interface Decision {
  readonly how: Unregistered;
  readonly text: string | Buffer | null;
}

/** What would be done. */
export async function planUnregister(
  path: string,
  home: string,
  entry: InstalledFile | null,
): Promise<Unregistered> {
  return (await readStable(path, home, (file) => decide(file, entry))).decision.how;
}

export async function unregister(
  path: string,
  entry: InstalledFile | null,
  paths: Paths,
  rewrite: RewriteOptions,
): Promise<{ readonly how: Unregistered; readonly backup: string | null }> {
  const done = { how: "nothing" as Unregistered, backup: null as string | null };
  const rewritten = await rewriteSettings(
    path,
    (file) => {
      const decision = decide(file, entry);
      done.how = decision.how;
      if (decision.how === "nothing") return null;
      const prepare = () => {
        const isBackedUp = decision.how === "entries" && file.bytes;
        const backup = isBackedUp ? createBackup(paths.backups, path, file.bytes) : null;
        done.backup = backup;
        return () => {
          done.backup = null;
          if (backup) ignoreErrors(() => rmSync(backup, { force: true }));
        };
      };
      return { text: decision.text, prepare };
    },
    rewrite,
  );
  if (done.how === "removed" && rewritten) {
    removeEmptyFolders(dirname(rewritten.file.target), entry?.madeFolder ?? null);
  }
  // What it holds is in its place again.
  const given = entry?.before;
  if (done.how === "as before" && given) ignoreErrors(() => rmSync(given, { force: true }));
  return done;
}

function decide({ bytes, text }: SettingsFile, entry: InstalledFile | null): Decision {
  if (bytes === null || text === null) return { how: "nothing", text: null };
  if (entry?.wroteSha256 === sha256(bytes)) {
    if (entry.before === null) return { how: "removed", text: null };
    const before = readBackup(entry.before, entry.beforeSha256);
    if (before) return { how: "as before", text: before };
  }
  const changed = removeHooks(text);
  if (changed.text === text) return { how: "nothing", text };
  const isMade = entry !== null && entry.wroteSha256 !== null && entry.before === null;
  if (isMade && isEmptySettings(changed.text)) return { how: "removed", text: null };
  return { how: "entries", text: changed.text };
}
