/** Where Gemini CLI keeps its files. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Env, homeOf } from "../../../system/folders.ts";

/** GEMINI_CLI_HOME stands for the home folder, not for the folder itself. */
function geminiFolder(env: Env, platform: NodeJS.Platform = process.platform): string {
  return join(env.GEMINI_CLI_HOME || homeOf(env, platform), ".gemini");
}

/** Antigravity CLI uses the same folder, but none of these. */
const ownNames = ["settings.json", "tmp", "oauth_creds.json"];

export const isPresent = (env: Env): boolean =>
  ownNames.some((name) => existsSync(join(geminiFolder(env), name)));

export const userSettingsPath = (env: Env): string => join(geminiFolder(env), "settings.json");

/** The transcripts are in a folder for each project. */
export const transcriptRoot = (env: Env): string => join(geminiFolder(env), "tmp");
