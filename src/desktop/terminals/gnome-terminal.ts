/**
 * GNOME Terminal: one process for all windows. Its search provider, made for GNOME Shell, brings a tab to the front where
 * it was built with one; Debian's is not, and there the window is told by its title.
 */
import { wantedOf } from "./around.ts";
import { call, just } from "./plan.ts";
import { named, type TerminalRow } from "./row.ts";
import { claimed } from "./shapes.ts";

export const row: TerminalRow = {
  name: "GNOME Terminal",
  proven: "run here",
  is: named("gnome-terminal-server"),
  says: (env) => claimed(env, "GNOME_TERMINAL_SCREEN") !== null,
  *focus(spot) {
    const id = claimed(spot.env, "GNOME_TERMINAL_SCREEN")?.split("/").at(-1)?.replaceAll("_", "-");
    const answer =
      id === undefined
        ? null
        : yield* call({
            destination: "org.gnome.Terminal",
            path: "/org/gnome/Terminal/SearchProvider",
            interface: "org.gnome.Shell.SearchProvider2",
            member: "ActivateResult",
            signature: "sasu",
            body: [id, [], 0],
          });
    if (answer !== null) return { kind: "front", why: null };
    return {
      kind: "window",
      wanted: wantedOf(spot),
      why: "this GNOME Terminal cannot switch tabs from outside",
    };
  },
  look: (spot) => just({ kind: "window", wanted: wantedOf(spot), sure: false }),
};
