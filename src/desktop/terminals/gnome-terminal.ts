/**
 * GNOME Terminal has one process for all windows. Its search provider, made for GNOME Shell, can show a tab if it was
 * built with one. Debian's was not: there the window is found by its title.
 */
import { readVariable } from "../../core/terminals.ts";
import { queryWindow } from "./detect.ts";
import { callDbus, immediate } from "./plan.ts";
import type { TerminalRecipe } from "./recipe.ts";

export const gnomeTerminal: TerminalRecipe = {
  *focus(location) {
    const id = readVariable(location.env, "GNOME_TERMINAL_SCREEN")?.split("/").at(-1)?.replaceAll("_", "-");
    const answer =
      id === undefined
        ? null
        : yield* callDbus({
            destination: "org.gnome.Terminal",
            path: "/org/gnome/Terminal/SearchProvider",
            interface: "org.gnome.Shell.SearchProvider2",
            member: "ActivateResult",
            signature: "sasu",
            body: [id, [], 0],
          });
    if (answer !== null) return { kind: "front", limit: null };
    const limit = "this GNOME Terminal does not let other programs select a tab";
    return { kind: "window", query: queryWindow(location), limit };
  },
  checkVisibility: (location) =>
    immediate({ kind: "window", query: queryWindow(location), isCertain: false }),
};
