/** Where Codex keeps its files, and whether they make it call beckon. The running app uses this: it loads no installer. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Env, homeOf } from "../../../system/folders.ts";
import { createJsonFileCheck, hasOwnHooks } from "../../setup/file-check.ts";

function codexFolder(env: Env): string {
  return env.CODEX_HOME ? resolve(env.CODEX_HOME) : join(homeOf(env), ".codex");
}

export const isPresent = (env: Env): boolean => existsSync(codexFolder(env));

export const hooksPath = (env: Env): string => join(codexFolder(env), "hooks.json");
export const { createRegistrationCheck } = createJsonFileCheck(hooksPath, hasOwnHooks);
export const configPath = (env: Env): string => join(codexFolder(env), "config.toml");
export const sessionsFolder = (env: Env): string => join(codexFolder(env), "sessions");
/** The names of all sessions. */
export const indexPath = (env: Env): string => join(codexFolder(env), "session_index.jsonl");

/** The socket of the shared server. */
export const socketPath = (env: Env): string =>
  join(codexFolder(env), "app-server-control", "app-server-control.sock");
