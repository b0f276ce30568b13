/** Whether Codex calls beckon. The running app checks it, so it loads nothing of the installer. */
import { isOwnCommand, listHooks } from "../../../settings-file/hook-command.ts";
import { createJsonFileCheck } from "../../setup/file-check.ts";
import { hooksPath } from "./folder.ts";

export const { createRegistrationCheck } = createJsonFileCheck(hooksPath, (file) =>
  listHooks(file).some(isOwnCommand),
);
