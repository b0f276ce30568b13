/** The autostart entry of beckon as text, by the Desktop Entry Specification. */
import { type LoginCommand, loginArgs } from "./login.ts";

/** An argument, always in quotes: inside them only these four are escaped; a percent sign would begin a field code. */
function quoted(argument: string): string {
  return `"${argument.replace(/["`$\\]/g, "\\$&").replaceAll("%", "%%")}"`;
}

/** Any value of type string, on top of whatever its key means. */
function escaped(value: string): string {
  const letters: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r" };
  return value.replace(/[\\\n\t\r]/g, (character) => letters[character] ?? character);
}

/** GLib looks for the program under its name before "%%" becomes "%": such a one is found by another. */
const finder = "/usr/bin/env";

export function execLine(wish: LoginCommand): string {
  const first = wish.binary.includes("%") ? [finder] : [];
  return [...first, wish.binary, ...loginArgs(wish)].map(quoted).join(" ");
}

/** How many folders were made for the entry: they go with it, if nobody else uses them. */
const madeKey = "X-Beckon-Made-Folders";

/**
 * The icon comes when the panel is there, however late; the hints only keep desktops from starting us before it.
 * `TryExec`: an entry whose binary is gone is passed over without a word.
 */
export function entryText(wish: LoginCommand, icon: string | null, madeFolders = 0): string {
  const rows: readonly (readonly [string, string])[] = [
    ["Type", "Application"],
    ["Name", "beckon"],
    ["Comment", "Tells you when a coding agent needs you"],
    ["Exec", execLine(wish)],
    ["TryExec", wish.binary],
    ...(icon === null ? [] : [["Icon", icon] as const]),
    ["Terminal", "false"],
    ["StartupNotify", "false"],
    ["Categories", "Utility;"],
    ["X-GNOME-Autostart-enabled", "true"],
    ["X-GNOME-Autostart-Delay", "2"],
    ["X-MATE-Autostart-Delay", "2"],
    ["X-KDE-autostart-after", "panel"],
    ["X-LXQt-Need-Tray", "true"],
    ...(madeFolders > 0 ? [[madeKey, String(madeFolders)] as const] : []),
  ];
  return `[Desktop Entry]\n${rows.map(([key, value]) => `${key}=${escaped(value)}\n`).join("")}`;
}

export interface Entry {
  /** The program that it runs; null: none. */
  readonly binary: string | null;
  /** By the person, in their desktop's settings. */
  readonly isTurnedOff: boolean;
  /** From the one that it lies in upwards. */
  readonly madeFolders: number;
}

export function readEntry(text: string): Entry {
  const rows = text.split(/\r?\n/);
  const from = rows.indexOf("[Desktop Entry]") + 1;
  const end = rows.findIndex((row, at) => at >= from && row.startsWith("["));
  const group = rows.slice(from, end < 0 ? undefined : end);
  const value = (key: string): string | null => {
    const row = group.find((line) => line.split("=", 1)[0]?.trim() === key);
    return row === undefined ? null : unescaped(row.slice(row.indexOf("=") + 1).trim());
  };
  const isTurnedOff = value("Hidden") === "true" || value("X-GNOME-Autostart-enabled") === "false";
  return {
    binary: words(value("Exec") ?? "").find((word) => word !== finder) ?? null,
    isTurnedOff,
    madeFolders: Number(/^[1-9]$/.exec(value(madeKey) ?? "")?.[0] ?? 0),
  };
}

function unescaped(value: string): string {
  const letters: Readonly<Record<string, string>> = { s: " ", n: "\n", t: "\t", r: "\r", "\\": "\\" };
  return value.replace(/\\([sntr\\])/g, (_, letter: string) => letters[letter] ?? "");
}

/** Of an Exec line: quoted as the specification has it, or bare. */
function words(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|[^\s"]+/g)].map(([bare, inner]) =>
    (inner === undefined ? bare : inner.replace(/\\(.)/g, "$1")).replaceAll("%%", "%"),
  );
}
