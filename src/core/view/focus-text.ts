/** How going to a terminal ended, as a message. */
import type { Session } from "../session/session.ts";
import { terminals, windowSystems } from "../terminals/index.ts";
import type { FocusOutcome } from "../terminals/terminal.ts";
import { truncateMiddle } from "../text/text.ts";
import { capitalize } from "../text/words.ts";
import { nameTerminal } from "./terminal-name.ts";

export interface FocusText {
  readonly title: string;
  /** One sentence per line: notifications truncate line by line. */
  readonly lines: readonly string[];
}

/** `session` is null if it is no longer known. */
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
        lines: formatSentences(`this is its window${way}`, why, describePlace(session)),
      };
    case "impossible":
      return { title: "beckon cannot take you there", lines: formatSentences(why, describePlace(session)) };
  }
}

const maxPath = 100;

/** Helps the user to find a terminal that beckon cannot show. */
function describePlace(session: Parameters<typeof formatFocusOutcome>[1]): string | null {
  if (session === null || session.ended) return null;
  const parts = [
    nameTerminal(session.place),
    session.cwd && `in ${truncateMiddle(session.cwd, maxPath)}`,
  ].filter(Boolean);
  return parts.length === 0 ? null : `where to look: ${parts.join(", ")}`;
}

function formatSentences(...parts: readonly (string | null)[]): string[] {
  return parts.flatMap((part) => (part ? [`${capitalizeSentence(part).replace(/\.$/, "")}.`] : []));
}

const names = ["beckon", ...[...terminals, ...windowSystems].map(({ name }) => name)];

/** A name like kitty or macOS keeps its small letter. */
function capitalizeSentence(text: string): string {
  const startsWithName = names.some((name) => text.startsWith(name) && !/\w/.test(text.charAt(name.length)));
  return startsWithName ? text : capitalize(text);
}
