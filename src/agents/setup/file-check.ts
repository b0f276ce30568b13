/** Whether an agent calls beckon. The running app checks it often, so it loads nothing of the installer. */
import { limits } from "../../core/limits.ts";
import { readFileStamp, readOr, readSmallFile } from "../../storage/files.ts";
import type { Env } from "../../system/folders.ts";

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
export const readSettingsText = (path: string): string =>
  readOr(() => readSmallFile(path, limits.maxAgentSettingsBytes), "");

export interface JsonFileCheck {
  /** False if the file cannot be read or parsed. */
  isRegistered(env: Env): boolean;
  createRegistrationCheck(env: Env): () => boolean;
}

/** `hasOwn` gets the parsed file, and says whether something in it calls beckon. */
export function createJsonFileCheck(
  pathOf: (env: Env) => string,
  hasOwn: (file: unknown) => boolean,
): JsonFileCheck {
  function isRegistered(env: Env): boolean {
    try {
      return hasOwn(JSON.parse(readSettingsText(pathOf(env))));
    } catch {
      return false;
    }
  }
  return {
    isRegistered,
    createRegistrationCheck: (env) => createFileCheck([pathOf(env)], () => isRegistered(env)),
  };
}
