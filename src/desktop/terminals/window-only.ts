/** Terminals in which only the window can be selected: those with one session in each window, and those whose tabs are out of reach. */
import { describeTerminal, readVariable, type TerminalDescription } from "../../core/terminals.ts";
import { queryWindow } from "./detect.ts";
import { immediate } from "./plan.ts";
import { impossible, type PaneLocation, type TerminalRecipe, type WindowQuery } from "./recipe.ts";

export function createWindowRecipe(terminal: TerminalDescription): TerminalRecipe {
  const isSingle = terminal.reach === "single";
  if (!isSingle && terminal.reach !== "window") throw new Error(`${terminal.name} needs a recipe of its own`);
  const query = (location: PaneLocation): WindowQuery =>
    queryWindow(location, { ids: windowIds(terminal, location) });
  return {
    focus: (location, { platform }) =>
      immediate({
        kind: "window",
        query: query(location),
        limit: isSingle ? null : limitOf(terminal, platform),
      }),
    checkVisibility: (location) => immediate({ kind: "window", query: query(location), isCertain: isSingle }),
  };
}

function windowIds(
  { kind, reach, bundleId, bundleIds }: TerminalDescription,
  { env }: PaneLocation,
): string[] {
  const bundle = readVariable(env, "__CFBundleIdentifier");
  // A window of an editor is found by the folder in its title.
  if (kind === "editor") return bundle !== null && bundleIds?.test(bundle) ? [bundle] : [];
  const ids = [
    readVariable(env, "WINDOWID"),
    reach === "single" ? readVariable(env, "ALACRITTY_WINDOW_ID") : null,
    bundleId ?? null,
  ];
  return ids.filter((id) => id !== null);
}

function limitOf({ kind, name }: TerminalDescription, platform: NodeJS.Platform): string {
  if (kind !== "editor") return `${name} does not let other programs select a tab`;
  const part = platform === "darwin" ? "a window or terminal" : "a terminal";
  return `${name} does not let other programs select ${part} in it`;
}

const windowsTerminalOnWindows = createWindowRecipe(describeTerminal("windows-terminal"));

export const windowsTerminal: TerminalRecipe = {
  ...windowsTerminalOnWindows,
  focus: (location, context) =>
    context.platform === "win32"
      ? windowsTerminalOnWindows.focus(location, context)
      : immediate(
          impossible(
            "its window belongs to Windows, which beckon in WSL cannot reach: run beckon on Windows",
          ),
        ),
};
