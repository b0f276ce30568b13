/** Terminals that show one thing per window: the window is the pane. */

import { wantedOf } from "./around.ts";
import { just } from "./plan.ts";
import { named, type PaneLocation, type TerminalRow } from "./row.ts";
import { claimed } from "./shapes.ts";

const ids = ({ env }: PaneLocation): string[] =>
  (["WINDOWID", "ALACRITTY_WINDOW_ID"] as const).flatMap((name) => claimed(env, name) ?? []);

function plain(
  name: string,
  programs: readonly string[],
  more: Partial<TerminalRow> = {},
  bundle?: string,
): TerminalRow {
  const wanted = (spot: PaneLocation) => wantedOf(spot, { ids: [...ids(spot), ...(bundle ? [bundle] : [])] });
  return {
    name,
    proven: "by documentation",
    is: named(...programs),
    says: () => false,
    focus: (spot) => just({ kind: "window", wanted: wanted(spot), why: null }),
    look: (spot) => just({ kind: "window", wanted: wanted(spot), sure: true }),
    ...more,
  };
}

export const rows: readonly TerminalRow[] = [
  plain("xterm", ["xterm"], { proven: "run here" }),
  plain(
    "Alacritty",
    ["alacritty"],
    { proven: "run here", says: (env) => claimed(env, "ALACRITTY_WINDOW_ID") !== null },
    "org.alacritty",
  ),
  plain("foot", ["foot", "footclient"], { proven: "run here" }),
  plain("urxvt", ["urxvt", "rxvt", "urxvtd"]),
  plain("st", ["st"]),
  plain("mlterm", ["mlterm"]),
];
