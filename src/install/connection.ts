/** Whether the agent's settings have it call beckon. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../limits.ts";
import { readSmallFile } from "../storage/small-file.ts";
import { ownHooks } from "./settings.ts";

/** Of the person's own settings: a project's may be anywhere. Read again when the file has changed. */
export function createConnection(claudeFolder: string): () => boolean {
  const path = join(claudeFolder, "settings.json");
  let stamp = "";
  let isThere = false;
  return () => {
    try {
      const { mtimeMs, size, ino } = statSync(path);
      if (`${mtimeMs} ${size} ${ino}` === stamp) return isThere;
      stamp = `${mtimeMs} ${size} ${ino}`;
      isThere = ownHooks(readSmallFile(path, limits.maxAgentSettingsBytes)).length > 0;
    } catch {
      isThere = false;
    }
    return isThere;
  };
}
