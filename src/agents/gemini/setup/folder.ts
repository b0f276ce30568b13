/** Where Gemini CLI keeps its files, and whether they make it call beckon. The running app uses this: it loads no installer. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Env, homeOf } from "../../../system/folders.ts";
import { createJsonFileCheck, hasOwnHooks } from "../../setup/file-check.ts";

/** GEMINI_CLI_HOME stands for the home folder, not for the folder itself. */
const geminiFolder = (env: Env): string => join(env.GEMINI_CLI_HOME || homeOf(env), ".gemini");

/** Antigravity CLI uses the same folder, but none of these. */
const ownNames = ["settings.json", "tmp", "oauth_creds.json"];

export const isPresent = (env: Env): boolean =>
  ownNames.some((name) => existsSync(join(geminiFolder(env), name)));

export const userSettingsPath = (env: Env): string => join(geminiFolder(env), "settings.json");
export const { createRegistrationCheck } = createJsonFileCheck(userSettingsPath, hasOwnHooks);

/** The transcripts are in a folder for each project. */
export const transcriptRoot = (env: Env): string => join(geminiFolder(env), "tmp");
