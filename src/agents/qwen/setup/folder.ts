/** Where Qwen Code keeps its files, and whether they make it call beckon. The running app uses this: it loads no installer. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Env, homeOf } from "../../../system/folders.ts";
import { createJsonFileCheck, hasOwnHooks } from "../../setup/file-check.ts";

const qwenFolder = (env: Env): string => join(homeOf(env), ".qwen");

export const isPresent = (env: Env): boolean => existsSync(qwenFolder(env));
export const settingsPath = (env: Env): string => join(qwenFolder(env), "settings.json");
export const { createRegistrationCheck } = createJsonFileCheck(settingsPath, hasOwnHooks);
/** Where Qwen Code writes what it does, and reads answers from: see watch/channel.ts. */
export const eventsPath = (env: Env): string => join(qwenFolder(env), "beckon-events");
export const answersPath = (env: Env): string => join(qwenFolder(env), "beckon-answers.jsonl");
/** The transcripts are in a folder for each project. */
export const transcriptRoot = (env: Env): string => join(qwenFolder(env), "projects");
