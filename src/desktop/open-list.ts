/** Opens the list of sessions, `beckon status --watch`, in a new terminal window. */

import { join } from "node:path";
import { readErrorMessage } from "../core/error-message.ts";
import { quoteForShell } from "../core/text/shell-quote.ts";
import { dropUnset, type Env } from "../system/folders.ts";
import { findOwnCommand } from "../system/is-compiled.ts";
import { startDetached } from "../system/launch.ts";
import { findShortPath } from "../system/short-path.ts";
import { putFile } from "./put-file.ts";

interface OpenListOptions {
  readonly env: Env;
  /** A private folder (0700). */
  readonly folder: string;
  readonly platform?: NodeJS.Platform;
  /** How beckon itself is run. */
  readonly command?: readonly string[];
  readonly which?: (program: string) => string | null;
}

/** Tried in this order. Each has its own arguments before the command. */
const linuxTerminals: readonly (readonly [program: string, ...before: string[]])[] = [
  ["x-terminal-emulator", "-e"],
  ["gnome-terminal", "--"],
  ["konsole", "-e"],
  ["xfce4-terminal", "-x"],
  ["kitty"],
  ["alacritty", "-e"],
  ["foot"],
  ["wezterm", "start", "--"],
  ["xterm", "-e"],
];

/** The argv that opens the window; null if no terminal was found. */
export function planOpenList({
  platform = process.platform,
  command = findOwnCommand(),
  which = Bun.which,
  folder,
}: OpenListOptions): { readonly argv: readonly string[]; readonly script?: string } | null {
  const list = [...command, "status", "--watch"];
  if (platform === "win32") {
    // `start` takes the first word for the window's title. It must be there, or a path in quotes would be taken for it.
    const [program = "", ...args] = list;
    return { argv: ["cmd.exe", "/c", "start", "", findShortPath(program), ...args] };
  }
  if (platform === "darwin") {
    // Terminal runs .command files; passing it a command in another way needs a permission.
    const quoted = list.map(quoteForShell).join(" ");
    return { argv: ["open", join(folder, "list.command")], script: `#!/bin/sh\nexec ${quoted}\n` };
  }
  for (const [program, ...before] of linuxTerminals) {
    const path = which(program);
    if (path !== null) return { argv: [path, ...before, ...list] };
  }
  return null;
}

/** Resolves with null, or with the reason why no window was opened. */
export async function openList(options: OpenListOptions): Promise<string | null> {
  const plan = planOpenList(options);
  if (plan === null) return "No terminal program was found. Run: beckon status --watch";
  try {
    if (plan.script) putFile(join(options.folder, "list.command"), Buffer.from(plan.script), 0o700);
    const [program = "", ...args] = plan.argv;
    startDetached(program, args, dropUnset(options.env));
    return null;
  } catch (error) {
    return `${plan.argv[0]} could not be started: ${readErrorMessage(error)}`;
  }
}
