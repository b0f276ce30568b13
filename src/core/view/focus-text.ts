import type { Session } from "../session/session.ts";
import { terminals, windowSystems } from "../terminals.ts";
import { truncateMiddle } from "../text/text.ts";
import { nameTerminal } from "./terminal-name.ts";

export interface FocusText {
  readonly title: string;
  /** A sentence each: a notification cuts what is long, line by line. */
  readonly lines: readonly string[];
}

/** `session`: null where it is not known any more. */
export function formatFocusOutcome(
  { result, by, why }: FocusOutcome,
  session: Pick<Session, "place" | "cwd" | "ended"> | null,
): FocusText {
  const way = by === "" ? "" : ` (${by})`;
  switch (result) {
    case "exact":
      return { title: "You are there", lines: [`This is its terminal${way}.`] };
    case "window":
      return {
        title: "As close as beckon gets",
        lines: sentences(`this is its window${way}`, why, whereIs(session)),
      };
    case "impossible":
      return { title: "beckon cannot take you there", lines: sentences(why, whereIs(session)) };
  }
}

const maxPath = 100;

/** A terminal that beckon cannot show, its person can find: by its name and its folder. */
function whereIs(session: Parameters<typeof formatFocusOutcome>[1]): string | null {
  if (session === null || session.ended) return null;
  const known = [
    nameTerminal(session.place),
    session.cwd && `in ${truncateMiddle(session.cwd, maxPath)}`,
  ].filter(Boolean);
  return known.length === 0 ? null : `where to look: ${known.join(", ")}`;
}

function sentences(...parts: readonly (string | null)[]): string[] {
  return parts.flatMap((part) => (part ? [`${capitalize(part).replace(/\.$/, "")}.`] : []));
}

const names = ["beckon", ...[...terminals, ...windowSystems].map(({ name }) => name)];

/** A name like kitty or macOS keeps its small letter. */
function capitalize(text: string): string {
  const startsWithName = names.some((name) => text.startsWith(name) && !/\w/.test(text.charAt(name.length)));
  return startsWithName ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

export interface FocusOutcome {
  readonly result: "exact" | "window" | "impossible";
  /** The recipes that did it, outermost last: `tmux, X11`. */
  readonly by: string;
  /** For people, where it was less than exact: why, and what to do. */
  readonly why: string | null;
}
