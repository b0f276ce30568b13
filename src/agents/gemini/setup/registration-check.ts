/** Whether Gemini CLI calls beckon. */
import { isOwnCommand, listHooks } from "../../../settings-file/hook-command.ts";
import { createJsonFileCheck } from "../../setup/file-check.ts";
import { userSettingsPath } from "./folder.ts";

export const { createRegistrationCheck } = createJsonFileCheck(userSettingsPath, (file) =>
  listHooks(file).some(isOwnCommand),
);
