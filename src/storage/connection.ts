/** Whether the agent's settings have it call beckon. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../limits.ts";
import { readSmallFile } from "./small-file.ts";

/** Of the person's own settings: a project's may be anywhere. Read again when the file has changed. */
export function createConnection(claudeFolder: string): () => boolean {
  const path = join(claudeFolder, "settings.json");
  let stamp = "";
  let isThere = false;
  return () => {
    try {
      const { mtimeMs, size } = statSync(path);
      if (`${mtimeMs} ${size}` === stamp) return isThere;
      stamp = `${mtimeMs} ${size}`;
      isThere = /beckon[^\n]{0,20}\bhook\b|beckon-hook\.sh/.test(
        readSmallFile(path, limits.maxAgentSettingsBytes),
      );
    } catch {
      isThere = false;
    }
    return isThere;
  };
}
