/** Where Antigravity's hooks are, and which of them are beckon's. The running app uses this, so it loads nothing of the installer. */
import { join } from "node:path";
import { asList, asRecord } from "../../../core/json.ts";
import { type Env, homeOf } from "../../../system/folders.ts";
import { readHookCommand } from "../../../user-files/hook-command.ts";
import type { OwnEntry } from "../../setup/called-program.ts";
import { createJsonFileCheck } from "../../setup/file-check.ts";

/** The place that versions 1.0.5 to 1.1.27 read, by several reports. Its documentation names others. */
export const hooksPath = (env: Env): string => join(homeOf(env), ".gemini", "config", "hooks.json");

/** An agent that is installed but not connected does not count: nobody has run this part yet. */
export const { isRegistered, createRegistrationCheck } = createJsonFileCheck(
  hooksPath,
  (file) => listOwnEntries(file).length > 0,
);

/** The name of beckon's hooks in the file. */
export const ownName = "beckon";
/** An empty output counts as a malformed decision, and {} as none (reports). */
export const emptyDecision = "echo '{}'";

/** What beckon's hooks in the parsed file call. */
export function listOwnEntries(file: unknown): readonly OwnEntry[] {
  return Object.values(asRecord(asRecord(file)[ownName])).flatMap((list) =>
    asList(list).flatMap((hook: unknown) => {
      const { command } = asRecord(hook);
      const called =
        typeof command === "string" ? readHookCommand(command.replace(emptyDecision, "exit 0")) : null;
      return called === null ? [] : [called];
    }),
  );
}
