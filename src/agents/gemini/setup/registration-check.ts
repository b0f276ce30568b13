/** Whether Gemini CLI calls beckon. */
import { isOwnCommand, listHooks } from "../../../settings-file/hook-command.ts";
import type { Env } from "../../../system/folders.ts";
import { createFileCheck, readSettingsText } from "../../setup/file-check.ts";
import { userSettingsPath } from "./folder.ts";

export function createRegistrationCheck(env: Env): () => boolean {
  const path = userSettingsPath(env);
  return createFileCheck([path], () => {
    try {
      return listHooks(JSON.parse(readSettingsText(path))).some(isOwnCommand);
    } catch {
      return false;
    }
  });
}
