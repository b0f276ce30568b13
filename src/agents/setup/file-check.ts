/** Whether an agent calls beckon. The running app checks it often, so it loads nothing of the installer. */
import { limits } from "../../core/limits.ts";
import { readFileStamp, readSmallFile } from "../../storage/files.ts";

/** Returns a function that calls `isRegistered` again only if one of the files has changed. */
export function createFileCheck(files: readonly string[], isRegistered: () => boolean): () => boolean {
  let lastState: string | null = null;
  let result = false;
  return () => {
    const state = files.map(readFileStamp).join();
    if (state === lastState) return result;
    lastState = state;
    result = isRegistered();
    return result;
  };
}

/** The text of a settings file. Empty if it cannot be read. */
export function readSettingsText(path: string): string {
  try {
    return readSmallFile(path, limits.maxAgentSettingsBytes).replace(/^\uFEFF/, "");
  } catch {
    return "";
  }
}
