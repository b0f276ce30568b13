/** Where Grok Build keeps its files, and whether they make it call beckon. The running app uses this: it loads no installer. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Env, homeOf } from "../../../system/folders.ts";
import { createJsonFileCheck, hasOwnHooks } from "../../setup/file-check.ts";

const grokFolder = (env: Env): string => join(homeOf(env), ".grok");

export const isPresent = (env: Env): boolean => existsSync(grokFolder(env));
/** Grok Build reads every file in this folder, and trusts them. */
export const hooksPath = (env: Env): string => join(grokFolder(env), "hooks", "beckon.json");
export const { createRegistrationCheck } = createJsonFileCheck(hooksPath, hasOwnHooks);
export const sessionsFolder = (env: Env): string => join(grokFolder(env), "sessions");
