/** The table of recipes: one for each terminal and window system that core/terminals.ts describes. */
import {
  type TerminalDescription,
  type TerminalId,
  terminals,
  type WindowSystemId,
} from "../../core/terminals.ts";
import { ghostty, iterm2, terminalApp } from "./applescript.ts";
import { gnomeTerminal } from "./gnome-terminal.ts";
import { kde } from "./kde.ts";
import { kitty } from "./kitty.ts";
import { konsole } from "./konsole.ts";
import { macos } from "./macos.ts";
import type { TerminalRecipe, WindowSystemRecipe } from "./recipe.ts";
import { screen } from "./screen.ts";
import { ssh } from "./ssh.ts";
import { tmux } from "./tmux.ts";
import { warp } from "./warp.ts";
import { gnomeWayland, hyprland, niri, sway } from "./wayland.ts";
import { wezterm } from "./wezterm.ts";
import { createWindowRecipe, windowsTerminal } from "./window-only.ts";
import { windows } from "./windows.ts";
import { x11 } from "./x11.ts";
import { zellij } from "./zellij.ts";

const recipes: Partial<Readonly<Record<TerminalId, TerminalRecipe>>> = {
  tmux,
  zellij,
  screen,
  ssh,
  kitty,
  wezterm,
  ghostty,
  konsole,
  "gnome-terminal": gnomeTerminal,
  warp,
  iterm2,
  "terminal-app": terminalApp,
  "windows-terminal": windowsTerminal,
};

/** A terminal without a recipe of its own gets its window raised. */
const allRecipes: ReadonlyMap<string, TerminalRecipe> = new Map(
  terminals.map((terminal) => [terminal.id, recipes[terminal.id] ?? createWindowRecipe(terminal)]),
);

export function recipeFor({ id }: TerminalDescription): TerminalRecipe {
  const recipe = allRecipes.get(id);
  if (recipe === undefined) throw new Error(`core/terminals.ts does not describe ${id}`);
  return recipe;
}

export const windowSystemRecipes: Readonly<Record<WindowSystemId, WindowSystemRecipe>> = {
  sway,
  hyprland,
  niri,
  kde,
  x11,
  "gnome-wayland": gnomeWayland,
  macos,
  windows,
};
