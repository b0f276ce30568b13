/**
 * Every terminal, multiplexer and window system that beckon knows, one file or entry each. Detection, the variables that
 * forwarders send, the name in lists, doctor and docs/terminals.md are derived from these tables.
 */
import { ghostty } from "./ghostty.ts";
import { gnomeTerminal } from "./gnome-terminal.ts";
import { iterm2 } from "./iterm2.ts";
import { kde } from "./kde.ts";
import { kitty } from "./kitty.ts";
import { konsole } from "./konsole.ts";
import { macos } from "./macos.ts";
import { screen } from "./screen.ts";
import { ssh } from "./ssh.ts";
import type {
  InstalledPrograms,
  InstalledTerminal,
  Terminal,
  TerminalDescription,
  WindowSystem,
} from "./terminal.ts";
import { terminalApp } from "./terminal-app.ts";
import { tmux } from "./tmux.ts";
import { commonVariables } from "./variables.ts";
import { warp } from "./warp.ts";
import { gnomeWayland, hyprland, niri, sway } from "./wayland.ts";
import { wezterm } from "./wezterm.ts";
import { windowOnlyTerminals } from "./window-only.ts";
import { windows } from "./windows.ts";
import { windowsTerminal } from "./windows-terminal.ts";
import { x11 } from "./x11.ts";
import { zellij } from "./zellij.ts";

export const terminals: readonly Terminal[] = [
  tmux,
  zellij,
  screen,
  ssh,
  kitty,
  wezterm,
  ghostty,
  konsole,
  gnomeTerminal,
  warp,
  iterm2,
  terminalApp,
  windowsTerminal,
  ...windowOnlyTerminals,
];

/** In the order in which they are tried: several can be active, like KDE and the X11 server inside it. */
export const windowSystems: readonly WindowSystem[] = [
  sway,
  hyprland,
  niri,
  kde,
  x11,
  gnomeWayland,
  macos,
  windows,
];

/** Set by several terminals, and read as they are. Terminal and iTerm2 give each session a TERM_SESSION_ID. */
const sharedVariables = ["TERM", "TERM_PROGRAM", "TERMINAL_EMULATOR", "TERM_SESSION_ID"];

/**
 * The variables that the forwarders send. By name, not by prefix: beside the window ids there are WARP_API_KEY and
 * KONSOLE_DBUS_ACTIVATION_COOKIE.
 */
export const listSentVariables = (): string[] => [
  ...sharedVariables,
  ...Object.keys(commonVariables),
  ...terminals.flatMap(({ variables = {} }) => Object.keys(variables)),
];

/** Those that identify the session of the terminal, the best first: the pane of a multiplexer before the window around it. */
export const listSessionVariables = (): string[] => [
  "TERM_SESSION_ID",
  ...terminals.flatMap(({ sessionVariable }) => sessionVariable ?? []),
];

/** What `recogniseTerminal` reads, and says of the one that it finds. */
const recognised = [
  "name",
  "kind",
  "variables",
  "ownVariables",
  "sessionVariable",
  "paneLabel",
  "variant",
  "keepsPanes",
  "term",
  "termProgram",
  "terminalEmulator",
] as const satisfies readonly (keyof TerminalDescription)[];

export type RecognisedTerminal = Pick<TerminalDescription, (typeof recognised)[number]>;

/** These fields as JSON: what only names terminals needs nothing else. A regular expression becomes its source and flags. */
export const stringifyRecognised = (): string =>
  JSON.stringify(
    terminals.map((row) => Object.fromEntries(recognised.map((field) => [field, row[field]]))),
    (_, value) => (value instanceof RegExp ? { source: value.source, flags: value.flags } : value),
  );

/** The terminals that are installed on this machine, and how far focus gets in each: what `beckon doctor` lists. */
export function listInstalledTerminals(machine: InstalledPrograms): readonly InstalledTerminal[] {
  return terminals
    .filter(({ commands = [], macApps = [] }) => [...commands, ...macApps].some(machine.has))
    .map(({ name, reach, reachOnMac = reach, checkSettings }) => {
      const reachHere = machine.platform === "darwin" ? reachOnMac : reach;
      return { name, ...(checkSettings?.(machine) ?? { reach: reachHere, advice: null }) };
    });
}
