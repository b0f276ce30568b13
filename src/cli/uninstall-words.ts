/** What an uninstall leaves, and how to remove it without the beckon that has just been removed. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { isShared } from "../setup/purge.ts";
import { quoteForShell } from "../shell/quote.ts";
import type { Paths } from "../storage/paths.ts";

export function whatStays(
  places: Paths,
  isChosen: boolean,
  platform: NodeJS.Platform = process.platform,
): string[] {
  const { state, config } = places;
  const settings = dirname(config) === state ? null : dirname(config);
  const known = existsSync(state) ? [state] : [];
  const set = settings !== null && existsSync(settings) ? [settings] : [];
  const folders = [...known, ...set];
  if (folders.length === 0) return [];
  // A folder of the person's choice may be their home: nobody is told to remove that.
  if (isChosen && known.length > 0 && isShared(places)) {
    return [`Kept: what beckon knew, among other files in ${state}. Remove from it what you like.`];
  }
  const what = [
    ...known.map((folder) => `what beckon knew${settings === null ? " and your settings" : ""} (${folder})`),
    ...set.map((folder) => `your settings (${folder})`),
  ].join(" and ");
  const them = folders.length > 1 ? "them" : "it";
  return [`Kept: ${what}. To remove ${them} too: ${removal(folders, platform)}`];
}

/** It was not the installer that put it there. The name may be of a stranger's project: no command is made of just any. */
export function pluginStays(plugin: string): string {
  const removal = /^beckon(@[\w.-]+)?$/.test(plugin)
    ? `claude plugin uninstall ${plugin}`
    : "/plugin in Claude Code";
  return `The plugin ${plugin} stays in Claude Code. To remove it too: ${removal}`;
}

function removal(folders: readonly string[], platform: NodeJS.Platform): string {
  if (platform === "win32") return `rmdir /s /q ${folders.map((folder) => `"${folder}"`).join(" ")}`;
  return `rm -r ${folders.map(quoteForShell).join(" ")}`;
}
