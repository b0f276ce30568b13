/** Where Cursor's hooks are, and which of them are beckon's. The running app uses this, so it loads nothing of the installer. */
import { join } from "node:path";
import { asList, asRecord } from "../../../core/json.ts";
import { type Env, homeOf } from "../../../system/folders.ts";
import { readHookCommand } from "../../../user-files/hook-command.ts";
import type { OwnEntry } from "../../setup/called-program.ts";
import { createJsonFileCheck } from "../../setup/file-check.ts";

export const hooksPath = (env: Env): string => join(homeOf(env), ".cursor", "hooks.json");

/** An agent that is installed but not connected does not count: nobody has run this part yet. */
export const { isRegistered, createRegistrationCheck } = createJsonFileCheck(
  hooksPath,
  (file) => listOwnEntries(file).length > 0,
);

interface CursorEntry extends OwnEntry {
  readonly event: string;
  readonly index: number;
  readonly command: string;
}

/** beckon's entries in the parsed file. */
export function listOwnEntries(file: unknown): readonly CursorEntry[] {
  return Object.entries(asRecord(asRecord(file).hooks)).flatMap(([event, list]) =>
    asList(list).flatMap((entry: unknown, index) => {
      const { command } = asRecord(entry);
      const called = typeof command === "string" ? readHookCommand(command) : null;
      if (called === null || typeof command !== "string") return [];
      return [{ event, index, command, binary: called.binary, home: called.home }];
    }),
  );
}
