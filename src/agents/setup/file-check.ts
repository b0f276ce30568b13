/** Whether an agent calls beckon. The running app checks it often, so it loads nothing of the installer. */
import { parseJson } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import { readFileStamp, readOr, readSmallFile } from "../../storage/files.ts";
import type { Env } from "../../system/folders.ts";
import { isOwnCommand, listHooks } from "../../user-files/hook-command.ts";

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

/** Whether one of the hooks in parsed settings of the common form calls beckon. */
export const hasOwnHooks = (settings: unknown): boolean => listHooks(settings).some(isOwnCommand);

export interface TextCheck {
  /** False if the file cannot be read. */
  isRegistered(env: Env): boolean;
  createRegistrationCheck(env: Env): () => boolean;
}

/** `hasOwn` gets the text of the agent's file, and says whether something in it calls beckon. */
export function createTextCheck(pathOf: (env: Env) => string, hasOwn: (text: string) => boolean): TextCheck {
  const isRegistered = (env: Env): boolean => hasOwn(readSettingsText(pathOf(env)));
  return {
    isRegistered,
    createRegistrationCheck: (env) => createFileCheck([pathOf(env)], () => isRegistered(env)),
  };
}

/** `hasOwn` gets the parsed file. */
export const createJsonFileCheck = (
  pathOf: (env: Env) => string,
  hasOwn: (file: unknown) => boolean,
): TextCheck => createTextCheck(pathOf, (text) => hasOwn(parseJson(text)));
