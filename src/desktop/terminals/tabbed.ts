/** Terminals with tabs that nobody outside can choose: their window comes to the front. */

import { wantedOf } from "./around.ts";
import { just } from "./plan.ts";
import { named, type PaneLocation, programIs, type TerminalRow, type Wanted } from "./row.ts";
import { claimed } from "./shapes.ts";

interface Tabbed {
  readonly programs: readonly string[];
  /** TERM_PROGRAM */
  readonly says?: string;
  readonly bundle?: string;
}

function tabbed(name: string, { programs, says, bundle }: Tabbed): TerminalRow {
  const wanted = (spot: PaneLocation): Wanted => {
    const id = claimed(spot.env, "WINDOWID");
    return wantedOf(spot, { ids: [id, bundle ?? null].filter((one) => one !== null) });
  };
  return {
    name,
    proven: "by documentation",
    is: named(...programs),
    says: (env) => says !== undefined && programIs(env, says),
    focus: (spot) =>
      just({ kind: "window", wanted: wanted(spot), why: `${name} cannot switch tabs from outside` }),
    look: (spot) => just({ kind: "window", wanted: wanted(spot), sure: false }),
  };
}

export const rows: readonly TerminalRow[] = [
  tabbed("Xfce Terminal", { programs: ["xfce4-terminal"] }),
  tabbed("MATE Terminal", { programs: ["mate-terminal"] }),
  tabbed("LXTerminal", { programs: ["lxterminal"] }),
  tabbed("QTerminal", { programs: ["qterminal"] }),
  tabbed("Terminator", { programs: ["terminator"] }),
  tabbed("Tilix", { programs: ["tilix"] }),
  tabbed("Ptyxis", { programs: ["ptyxis", "ptyxis-agent"] }),
  tabbed("GNOME Console", { programs: ["kgx"] }),
  tabbed("Rio", { programs: ["rio"], says: "rio", bundle: "com.raphaelamorim.rio" }),
  tabbed("Tabby", { programs: ["tabby"], says: "Tabby", bundle: "org.tabby" }),
  tabbed("Hyper", { programs: ["hyper"], says: "Hyper", bundle: "co.zeit.hyper" }),
];
