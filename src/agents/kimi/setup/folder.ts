/** Where Kimi Code keeps its files, and whether they make it call beckon. The running app uses this: it loads no installer. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Env, homeOf } from "../../../system/folders.ts";
import { createTextCheck } from "../../setup/file-check.ts";

const kimiFolder = (env: Env): string => join(homeOf(env), ".kimi-code");

export const isPresent = (env: Env): boolean => existsSync(kimiFolder(env));
export const configPath = (env: Env): string => join(kimiFolder(env), "config.toml");
export const sessionsFolder = (env: Env): string => join(kimiFolder(env), "sessions");

/** How the command of a hook of beckon's names the agent. Called often: the file is not parsed for it. */
export const { createRegistrationCheck } = createTextCheck(configPath, (text) => / hook kimi\b/.test(text));
