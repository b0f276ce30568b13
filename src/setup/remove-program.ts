/** Takes the installed binary away again, where it is still ours. */
import { lstatSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Exec } from "../core/ports.ts";
import { errorCode, ignoreErrors, removeEmptyFolders } from "../storage/files.ts";
import { removeOld } from "./copy-program.ts";
import { versionOf } from "./find-program.ts";
import type { InstallRecord } from "./record.ts";
import { sha256OfFile } from "./same-file.ts";

export interface ProgramPlan {
  readonly binary: string;
  /** null: it is removed. */
  readonly staysAs: string | null;
}

/** null: there is none to remove. */
export async function planRemoval(installed: InstallRecord | null, exec: Exec): Promise<ProgramPlan | null> {
  if (!installed) return null;
  const { binary, copy } = installed;
  const found = lstatSync(binary, { throwIfNoEntry: false });
  if (!found) return null;
  const staysAs = (why: string) => ({ binary, staysAs: why });
  if (!copy) return staysAs("beckon's installer has not put it there");
  if (!found.isFile()) return staysAs("it is no longer a program");
  if (process.getuid && found.uid !== process.getuid()) return staysAs("it belongs to another user");
  if (sha256OfFile(binary) === copy.sha256) return { binary, staysAs: null };
  // Replaced by hand, by an update.
  return (await versionOf(binary, exec)) === null
    ? staysAs("it is another program now")
    : { binary, staysAs: null };
}

/** Throws where it cannot be removed. */
export function removeProgram({ binary }: ProgramPlan, madeFolder: string | null): void {
  try {
    rmSync(binary, { force: true });
  } catch (error) {
    if (process.platform !== "win32") throw new Error(`${binary} cannot be removed (${errorCode(error)})`);
    moveOut(binary);
  }
  for (const end of [".beckon-tmp", ".beckon-lock"])
    ignoreErrors(() => rmSync(binary + end, { force: true }));
  removeOld(binary);
  removeEmptyFolders(dirname(binary), madeFolder);
}

/** Windows does not remove a program that runs, as this one does, but moves it: to where things are cleaned up. */
function moveOut(binary: string): void {
  try {
    renameSync(binary, join(tmpdir(), `beckon-removed-${Date.now()}.exe`));
  } catch {
    renameSync(binary, `${binary}.old-${Date.now()}`);
  }
}
