/** How far focus gets: in the terminal that doctor runs in, and in those that are installed. */

import { createFindings, type Finding } from "../../agents/finding.ts";
import type { FocusOutcome, InstalledTerminal, Reach } from "../../core/terminals/terminal.ts";

export interface TerminalsFacts {
  /** How far focus would get to the terminal that doctor runs in; null if it was not tried. */
  readonly own: FocusOutcome | null;
  readonly installed: readonly InstalledTerminal[];
  readonly hasTerminal: boolean;
}

const report = createFindings("terminals", "terminals");

export function checkTerminals({ own, installed, hasTerminal }: TerminalsFacts): Finding[] {
  const names = (...reaches: readonly Reach[]) =>
    installed
      .filter(({ reach }) => reaches.includes(reach))
      .map(({ name }) => name)
      .join(", ");
  const [panes, singles, windows] = [names("pane", "tab"), names("single"), names("window")];
  return [
    ...(hasTerminal ? [ownFinding(own)] : []),
    ...(panes ? [report("ok", "panes", `a click gets to the pane or tab: ${panes}`)] : []),
    ...(singles
      ? [report("ok", "whole", `a click gets to the window, which shows one session: ${singles}`)]
      : []),
    ...(windows
      ? [report("info", "windows", `a click gets to the window, but not to a tab in it: ${windows}`)]
      : []),
    ...installed.flatMap(({ name, advice }) =>
      advice === null ? [] : [report("info", "more", `${name} can do more`, advice)],
    ),
    ...(installed.length === 0 && !hasTerminal
      ? [report("info", "none", "no terminal that beckon knows is installed")]
      : []),
  ];
}

function ownFinding(own: FocusOutcome | null): Finding {
  if (own === null) return report("info", "own", "this terminal: not tried");
  const by = own.by === "" ? "" : ` (${own.by})`;
  switch (own.result) {
    case "exact":
      return report("ok", "own", `this terminal: a click gets all the way here${by}`);
    case "window":
      return report("info", "own", `this terminal: a click gets to its window only${by}`, own.why);
    case "impossible":
      return report("warn", "own", `this terminal: a click cannot get here${by}`, own.why);
  }
}
