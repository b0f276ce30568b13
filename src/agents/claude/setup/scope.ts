/** Where Claude Code keeps its settings. */
import { join, resolve } from "node:path";
import { type Env, homeOf } from "../../../system/home.ts";

export const scopes = ["user", "project", "local"] as const;
export type Scope = (typeof scopes)[number];

/** As the CLI finds it. */
export function claudeFolder(env: Env, platform: NodeJS.Platform = process.platform): string {
  const given = env.CLAUDE_CONFIG_DIR;
  return given ? resolve(given) : join(homeOf(env, platform), ".claude");
}

export function settingsPath(scope: Scope, env: Env, cwd: string): string {
  switch (scope) {
    case "user":
      return join(claudeFolder(env), "settings.json");
    case "project":
      return join(cwd, ".claude", "settings.json");
    case "local":
      return join(cwd, ".claude", "settings.local.json");
  }
}
