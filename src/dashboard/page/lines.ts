/** The lines of an ask, prepared for a page that wraps by itself. Pure. */
import type { AskDetails } from "../../core/session/ask-details.ts";
import { joinRows } from "../../core/text/fit.ts";

export interface DiffLine {
  readonly kind: "add" | "delete" | "same" | "label";
  readonly text: string;
}

/** The lines as a change of a file; null if they are something else. */
export function parseDiff({ kind, startsWithSubject, lines }: AskDetails): DiffLine[] | null {
  if (kind !== "permission" || startsWithSubject) return null;
  const parsed = joinRows(lines).map(parseDiffLine);
  const isDiff = parsed.some((line) => line?.kind === "add" || line?.kind === "delete");
  return isDiff && parsed.every((line) => line !== null) ? parsed : null;
}

/** What other sessions have changed in the same file: first who has, then the change. Empty if none has. */
export const parseOtherChanges = ({ otherChangesAt, lines }: AskDetails): DiffLine[] =>
  otherChangesAt === undefined
    ? []
    : joinRows(lines.slice(otherChangesAt)).map(
        (line) => parseDiffLine(line) ?? { kind: "same", text: line },
      );

function parseDiffLine(line: string): DiffLine | null {
  if (/^(?:⟨|…)/.test(line)) return { kind: "label", text: line };
  if (line === "") return { kind: "same", text: "" };
  // A sign and a blank. A diff of an agent's own has no blank, and would lose a character.
  if (!/^[-+ ](?: |$)/.test(line)) return null;
  const text = line.slice(2);
  if (line.startsWith("+")) return { kind: "add", text };
  return { kind: line.startsWith("-") ? "delete" : "same", text };
}
