/** Whether an agent calls beckon. The running app checks it often, so it loads nothing of the installer. */
import { statSync } from "node:fs";
import { limits } from "../../core/limits.ts";
import { readSmallFile } from "../../storage/files.ts";

/** Returns a function that calls `isRegistered` again only if one of the files has changed. */
export function createFileCheck(files: readonly string[], isRegistered: () => boolean): () => boolean {
  let lastState: string | null = null;
  let result = false;
  return () => {
    const state = files.map(fileState).join();
    if (state === lastState) return result;
    lastState = state;
    result = isRegistered();
    return result;
  };
}

function fileState(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return "";
  }
}

/** The text of a settings file. Empty if it cannot be read. */
export function readSettingsText(path: string): string {
  try {
    return readSmallFile(path, limits.maxAgentSettingsBytes).replace(/^\uFEFF/, "");
  } catch {
    return "";
  }
}
