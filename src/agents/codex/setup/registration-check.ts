/** Whether Codex calls beckon. The running app checks it, so it loads nothing of the installer. */
import { isOwnCommand, listHooks } from "../../../settings-file/hook-command.ts";
import type { Env } from "../../../system/folders.ts";
import { createFileCheck, readSettingsText } from "../../setup/file-check.ts";
import { hooksPath } from "./folder.ts";

export function createRegistrationCheck(env: Env): () => boolean {
  const path = hooksPath(env);
  return createFileCheck([path], () => {
    try {
      return listHooks(JSON.parse(readSettingsText(path) || "{}")).some(isOwnCommand);
    } catch {
      return false;
    }
  });
}
