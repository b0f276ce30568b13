/** Linux: a desktop entry in the user's autostart folder, which every desktop reads. */

import { existsSync, lstatSync, readFileSync, realpathSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Env } from "../../system/folders.ts";
import { writeAppIcon } from "../app-icon.ts";
import { putFile } from "../put-file.ts";
import { formatLoginArgs, type LoginCommand, type LoginItem, loginOff } from "./login-item.ts";

export function autostartPath(env: Env): string {
  const configHome = env.XDG_CONFIG_HOME;
  const folder = configHome?.startsWith("/") ? configHome : join(env.HOME ?? "/", ".config");
  return join(folder, "autostart", "beckon.desktop");
}

/** `folder`: where the icon is written, so that the desktop's settings can show it. */
export function createLinuxLoginItem(env: Env, folder: string): LoginItem {
  const path = autostartPath(env);
  const read = () => parseEntry(readFileSync(path, "utf8"));
  // A link whose target is gone counts too.
  const isInstalled = () => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

  return {
    async enable(command) {
      // A line break would start another key, and `env` takes a word with "=" for a variable.
      if (/\p{Cc}/u.test(`${command.binary}${command.home ?? ""}`) || /%.*=|=.*%/.test(command.binary)) {
        throw new Error(
          `beckon cannot start at login: desktops misread a path with a line break, or with both % and =: ${JSON.stringify(command)}`,
        );
      }
      // A user who keeps dotfiles elsewhere has a link here.
      const target = existsSync(path) ? realpathSync(path) : path;
      const created = existsSync(path) ? read().createdFolders : countMissingFolders(dirname(target));
      putFile(target, Buffer.from(formatEntry(command, writeAppIcon(folder), created)), 0o600);
      return `beckon starts when you log in (${path})`;
    },

    async disable() {
      if (!isInstalled()) return null;
      const { binary, createdFolders } = existsSync(path) ? read() : { binary: null, createdFolders: 0 };
      // Another program can have an entry of this name.
      if (binary !== null && !basename(binary).startsWith("beckon")) return null;
      rmSync(path);
      removeEmptyFolders(dirname(path), createdFolders);
      return `beckon no longer starts when you log in (${path} is removed)`;
    },

    async state() {
      if (!existsSync(path)) return loginOff;
      const { binary, isTurnedOff } = read();
      if (isTurnedOff) {
        const problem = `you turned it off in your desktop's settings (${path}). To turn it on: beckon --install --login`;
        return { on: false, turnedOff: true, binary, problem };
      }
      const isGone = binary?.startsWith("/") && !existsSync(binary);
      const problem = isGone ? `${path} starts ${binary}, which does not exist. Run: beckon --install` : null;
      return { on: binary !== null, turnedOff: false, binary, problem };
    },
  };
}

/** Counts the folders on the way that do not exist yet. */
const countMissingFolders = (folder: string): number =>
  existsSync(folder) ? 0 : 1 + countMissingFolders(dirname(folder));

/** Removes the folders that beckon created, up to the first one with other files in it. */
function removeEmptyFolders(lowest: string, count: number): void {
  try {
    for (let folder = lowest, left = count; left > 0; folder = dirname(folder), left--) rmdirSync(folder);
  } catch {
    // It is not empty.
  }
}

/**
 * Quotes an argument of the Exec key. The Desktop Entry Specification escapes only these four characters inside quotes; a
 * percent sign starts a field code.
 */
function quoteArgument(argument: string): string {
  return `"${argument.replace(/["`$\\]/g, "\\$&").replaceAll("%", "%%")}"`;
}

/** Escapes a value of type string, whatever its key means. */
function escapeValue(value: string): string {
  const letters: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r" };
  return value.replace(/[\\\n\t\r]/g, (character) => letters[character] ?? character);
}

function unescapeValue(value: string): string {
  const letters: Readonly<Record<string, string>> = { s: " ", n: "\n", t: "\t", r: "\r", "\\": "\\" };
  return value.replace(/\\([sntr\\])/g, (_, letter: string) => letters[letter] ?? "");
}

/** GLib looks for the program before it turns "%%" into "%", so a binary with "%" in its path is started by `env`. */
const envCommand = "/usr/bin/env";

export function formatExecLine(command: LoginCommand): string {
  const prefix = command.binary.includes("%") ? [envCommand] : [];
  return [...prefix, command.binary, ...formatLoginArgs(command)].map(quoteArgument).join(" ");
}

/** How many folders beckon created for the entry: they are removed with it. */
const createdFoldersKey = "X-Beckon-Made-Folders";

/**
 * The delays keep desktops from starting beckon before the panel; the icon appears later too. `TryExec` makes desktops skip
 * the entry silently when the binary is gone.
 */
export function formatEntry(command: LoginCommand, icon: string | null, createdFolders = 0): string {
  const rows: readonly (readonly [string, string])[] = [
    ["Type", "Application"],
    ["Name", "beckon"],
    ["Comment", "Tells you when a coding agent needs you"],
    ["Exec", formatExecLine(command)],
    ["TryExec", command.binary],
    ...(icon === null ? [] : [["Icon", icon] as const]),
    ["Terminal", "false"],
    ["StartupNotify", "false"],
    ["Categories", "Utility;"],
    ["X-GNOME-Autostart-enabled", "true"],
    ["X-GNOME-Autostart-Delay", "2"],
    ["X-MATE-Autostart-Delay", "2"],
    ["X-KDE-autostart-after", "panel"],
    ["X-LXQt-Need-Tray", "true"],
    ...(createdFolders > 0 ? [[createdFoldersKey, String(createdFolders)] as const] : []),
  ];
  return `[Desktop Entry]\n${rows.map(([key, value]) => `${key}=${escapeValue(value)}\n`).join("")}`;
}

export interface Entry {
  /** The program that the entry starts; null if there is none. */
  readonly binary: string | null;
  /** By the user, in the desktop's settings. */
  readonly isTurnedOff: boolean;
  readonly createdFolders: number;
}

export function parseEntry(text: string): Entry {
  const rows = text.split(/\r?\n/);
  const start = rows.indexOf("[Desktop Entry]") + 1;
  const end = rows.findIndex((row, at) => at >= start && row.startsWith("["));
  const group = rows.slice(start, end < 0 ? undefined : end);
  const value = (key: string): string | null => {
    const row = group.find((line) => line.split("=", 1)[0]?.trim() === key);
    return row === undefined ? null : unescapeValue(row.slice(row.indexOf("=") + 1).trim());
  };
  const isTurnedOff = value("Hidden") === "true" || value("X-GNOME-Autostart-enabled") === "false";
  return {
    binary: splitExecLine(value("Exec") ?? "").find((argument) => argument !== envCommand) ?? null,
    isTurnedOff,
    createdFolders: Number(/^[1-9]$/.exec(value(createdFoldersKey) ?? "")?.[0] ?? 0),
  };
}

/** Splits an Exec line into arguments, quoted as in the specification or bare. */
function splitExecLine(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|[^\s"]+/g)].map(([bare, quoted]) =>
    (quoted === undefined ? bare : quoted.replace(/\\(.)/g, "$1")).replaceAll("%%", "%"),
  );
}
