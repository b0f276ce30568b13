/** Where Copilot CLI keeps its files. */
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type Env, homeOf } from "../../../system/folders.ts";

export function copilotFolder(env: Env, platform: NodeJS.Platform = process.platform): string {
  const own = env.COPILOT_HOME;
  return own && isAbsolute(own) ? own : join(homeOf(env, platform), ".copilot");
}

export const isPresent = (env: Env): boolean => existsSync(copilotFolder(env));

/** It reads every file in this folder. */
export const hooksPath = (env: Env): string => join(copilotFolder(env), "hooks", "beckon.json");

export const sessionsFolder = (env: Env): string => join(copilotFolder(env), "session-state");
