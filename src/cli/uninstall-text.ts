/** What an uninstall leaves, and how to remove it without the beckon that has just been removed. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { isShared } from "../setup/purge.ts";
import { quoteForShell } from "../shell/quote.ts";
import type { Paths } from "../storage/paths.ts";

export function describeKept(
  paths: Paths,
  isChosen: boolean,
  platform: NodeJS.Platform = process.platform,
): string[] {
  const { state, config } = paths;
  const configFolder = dirname(config) === state ? null : dirname(config);
  const states = existsSync(state) ? [state] : [];
  const settings = configFolder !== null && existsSync(configFolder) ? [configFolder] : [];
  const folders = [...states, ...settings];
  if (folders.length === 0) return [];
  // A folder that the user chose may be their home: nobody is told to remove that.
  if (isChosen && states.length > 0 && isShared(paths)) {
    return [`Kept: what beckon knew, among other files in ${state}. Remove from it what you like.`];
  }
  const what = [
    ...states.map(
      (folder) => `what beckon knew${configFolder === null ? " and your settings" : ""} (${folder})`,
    ),
    ...settings.map((folder) => `your settings (${folder})`),
  ].join(" and ");
  const them = folders.length > 1 ? "them" : "it";
  return [`Kept: ${what}. To remove ${them} too: ${createRemovalCommand(folders, platform)}`];
}

function createRemovalCommand(folders: readonly string[], platform: NodeJS.Platform): string {
  if (platform === "win32") return `rmdir /s /q ${folders.map((folder) => `"${folder}"`).join(" ")}`;
  return `rm -r ${folders.map(quoteForShell).join(" ")}`;
}
