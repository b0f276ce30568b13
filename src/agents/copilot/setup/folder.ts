/** Where Copilot CLI keeps its files, and whether they make it call beckon. The running app uses this: it loads no installer. */
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type Env, homeOf } from "../../../system/folders.ts";
import { createTextCheck } from "../../setup/file-check.ts";

export function copilotFolder(env: Env): string {
  const own = env.COPILOT_HOME;
  return own && isAbsolute(own) ? own : join(homeOf(env), ".copilot");
}

export const isPresent = (env: Env): boolean => existsSync(copilotFolder(env));

/** It reads every file in this folder. */
export const hooksPath = (env: Env): string => join(copilotFolder(env), "hooks", "beckon.json");

/** The file has no room for a comment: nothing but beckon's own command contains this. */
export const ownMark = " hook copilot";

export const { createRegistrationCheck } = createTextCheck(hooksPath, (text) => text.includes(ownMark));

export const sessionsFolder = (env: Env): string => join(copilotFolder(env), "session-state");
