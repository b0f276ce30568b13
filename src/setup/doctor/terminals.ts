/** Terminals: how far a click gets, in the one doctor runs in and in those that are here. */

import { about, type Finding } from "../../agents/finding.ts";
import type { FocusOutcome } from "../../core/view/focus-text.ts";

export interface TerminalHere {
  readonly name: string;
  /** `all`: to its window, which is all that there is. */
  readonly reach: "pane" | "all" | "window";
  /** What to switch on for more. */
  readonly more: string | null;
}

export interface TerminalsFacts {
  /** How far a click would get to the terminal doctor runs in; null: nobody could tell. */
  readonly own: FocusOutcome | null;
  readonly here: readonly TerminalHere[];
  readonly hasTerminal: boolean;
}

const tell = about("terminals", "terminals");

export function terminalFindings({ own, here, hasTerminal }: TerminalsFacts): Finding[] {
  const names = (how: TerminalHere["reach"]) =>
    here
      .filter(({ reach }) => reach === how)
      .map(({ name }) => name)
      .join(", ");
  const [panes, whole, windows] = [names("pane"), names("all"), names("window")];
  return [
    ...(hasTerminal ? [ownFinding(own)] : []),
    ...(panes ? [tell("ok", "panes", `to the very pane: ${panes}`)] : []),
    ...(whole ? [tell("ok", "whole", `all the way, one window each: ${whole}`)] : []),
    ...(windows ? [tell("info", "windows", `to the window, not to a tab or pane in it: ${windows}`)] : []),
    ...here.flatMap(({ name, more }) =>
      more === null ? [] : [tell("info", "more", `${name} can do more`, more)],
    ),
    ...(here.length === 0 && !hasTerminal ? [tell("info", "none", "none that beckon knows is here")] : []),
  ];
}

function ownFinding(own: FocusOutcome | null): Finding {
  if (own === null) return tell("info", "own", "this terminal: not tried");
  const by = own.by === "" ? "" : ` (${own.by})`;
  switch (own.result) {
    case "exact":
      return tell("ok", "own", `this terminal: a click gets all the way here${by}`);
    case "window":
      return tell("info", "own", `this terminal: a click gets to its window only${by}`, own.why);
    case "impossible":
      return tell("warn", "own", `this terminal: a click cannot get here${by}`, own.why);
  }
}
