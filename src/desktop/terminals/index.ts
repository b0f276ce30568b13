/** One click to the terminal: the table of all that beckon knows to get to, and what it takes to use it. */
import type { Exec, Terminals } from "../../core/ports.ts";
import type { FocusOutcome } from "../../core/view/focus-text.ts";
import { exec as run } from "../../system/exec.ts";
import { focus, isLooking, type Table } from "./focus.ts";
import { row as ghostty } from "./ghostty.ts";
import { row as gnomeTerminal } from "./gnome-terminal.ts";
import { row as gnomeWayland } from "./gnome-wayland.ts";
import { row as hyprland } from "./hyprland.ts";
import { row as iterm2 } from "./iterm2.ts";
import { row as jetbrains } from "./jetbrains.ts";
import { row as kde } from "./kde.ts";
import { row as kitty } from "./kitty.ts";
import { row as konsole } from "./konsole.ts";
import { createMachine } from "./machine.ts";
import { row as macos } from "./macos.ts";
import { row as niri } from "./niri.ts";
import { rows as plain } from "./plain.ts";
import { rehearsed } from "./rehearse.ts";
import { row as ssh } from "./remote.ts";
import type { TerminalContext } from "./row.ts";
import { row as screen } from "./screen.ts";
import { row as sway } from "./sway.ts";
import { rows as tabbed } from "./tabbed.ts";
import { row as terminalApp } from "./terminal-app.ts";
import { row as tmux } from "./tmux.ts";
import { row as vscode } from "./vscode.ts";
import { row as warp } from "./warp.ts";
import { row as wezterm } from "./wezterm.ts";
import { row as windows } from "./windows.ts";
import { row as windowsTerminal } from "./windows-terminal.ts";
import { row as x11 } from "./x11.ts";
import { row as zed } from "./zed.ts";
import { row as zellij } from "./zellij.ts";

/** The first row that knows a process has it. */
export const table: Table = {
  terminals: [
    ...[tmux, screen, zellij, ssh],
    ...[kitty, wezterm, ghostty, konsole, gnomeTerminal, warp, iterm2, terminalApp, windowsTerminal],
    ...[vscode, jetbrains, zed],
    ...plain,
    ...tabbed,
  ],
  windows: [sway, hyprland, niri, kde, x11, gnomeWayland, macos, windows],
};

export interface TerminalsOptions {
  readonly env?: TerminalContext["env"];
  readonly platform?: NodeJS.Platform;
  readonly exec?: Exec;
  /** How long `isLooking` may take: an alert waits for it. */
  readonly lookMs?: number;
}

const focusMs = 5_000;
const reachMs = 2_000;

export function createTerminals(options: TerminalsOptions = {}): Terminals {
  const { env = process.env, platform = process.platform, exec = run, lookMs = 50 } = options;
  const here: TerminalContext = { env, platform };
  const machine = createMachine({ ...here, exec });
  const failed = (error: Error): FocusOutcome => ({
    result: "impossible",
    by: "",
    why: `something went wrong on the way: ${error.message}`,
  });
  return {
    focus: (target) => machine.carryOut(focus(target, here, table), focusMs).catch(failed),
    reach: (target) => machine.carryOut(rehearsed(focus(target, here, table)), reachMs).catch(failed),
    isLooking: (target) => machine.carryOut(isLooking(target, here, table), lookMs).catch(() => null),
  };
}
