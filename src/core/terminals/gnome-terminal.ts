/**
 * GNOME Terminal has one process for all windows. Its search provider, made for GNOME Shell, can show a tab if it was
 * built with one. Debian's was not: there the window is found by its title.
 */
import { queryWindow } from "./lineage.ts";
import { callDbus, immediate } from "./plan.ts";
import type { Terminal } from "./terminal.ts";
import { readVariable } from "./variables.ts";

const variables = {
  GNOME_TERMINAL_SCREEN: /^\/org\/gnome\/Terminal\/screen\/[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12}$/,
};
/** In a dry run: most builds do not have the search provider. */
const noSuchObject = null;

export const gnomeTerminal: Terminal = {
  name: "GNOME Terminal",
  kind: "terminal",
  processes: ["gnome-terminal-server"],
  variables,
  ownVariables: ["GNOME_TERMINAL_SCREEN"],
  sessionVariable: "GNOME_TERMINAL_SCREEN",
  commands: ["gnome-terminal"],
  reach: "window",
  remark: "The tab too, if it was built with its search provider",
  isTested: true,
  *focus(location) {
    const screen = readVariable(location.env, variables, "GNOME_TERMINAL_SCREEN");
    const id = screen?.split("/").at(-1)?.replaceAll("_", "-");
    const answer =
      id === undefined
        ? null
        : yield* callDbus(
            {
              destination: "org.gnome.Terminal",
              path: "/org/gnome/Terminal/SearchProvider",
              interface: "org.gnome.Shell.SearchProvider2",
              member: "ActivateResult",
              signature: "sasu",
              body: [id, [], 0],
            },
            noSuchObject,
          );
    if (answer !== null) return { kind: "front", limit: null };
    const limit = "this GNOME Terminal does not let other programs select a tab";
    return { kind: "window", query: queryWindow(location), limit };
  },
  checkVisibility: (location) =>
    immediate({ kind: "window", query: queryWindow(location), isCertain: false }),
};
