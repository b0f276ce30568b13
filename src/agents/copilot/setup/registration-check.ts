/** Whether Copilot CLI calls beckon. */
import type { Env } from "../../../system/folders.ts";
import { createFileCheck, readSettingsText } from "../../setup/file-check.ts";
import { hooksPath } from "./folder.ts";
import { hooksFile } from "./hooks-file.ts";

export function createRegistrationCheck(env: Env): () => boolean {
  const path = hooksPath(env);
  return createFileCheck([path], () => readSettingsText(path).includes(hooksFile.mark));
}
