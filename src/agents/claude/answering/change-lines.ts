/** A change to a file as lines: `- ` goes, `+ ` comes, two blanks stay. */

import { isRecord } from "../../../core/json.ts";
import { createLabel, createLines, type FittedLine } from "../../../core/text/fit.ts";

export function changeLines(before: unknown, after: unknown): FittedLine[] | null {
  if (typeof before !== "string" || typeof after !== "string") return null;
  const old = split(before);
  const now = split(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  return [
    ...createLines(old.slice(0, start), "  "),
    ...createLines(old.slice(start, old.length - end), "- "),
    ...createLines(now.slice(start, now.length - end), "+ "),
    ...createLines(old.slice(old.length - end), "  "),
  ];
}

const split = (text: string): string[] => (text === "" ? [] : text.split("\n"));

export function editLines(edits: unknown): FittedLine[] | null {
  if (!Array.isArray(edits) || edits.length === 0) return null;
  const all: FittedLine[] = [];
  for (const [n, edit] of edits.entries()) {
    if (!isRecord(edit)) return null;
    const { old_string: before, new_string: after, replace_all: isEverywhere = false, ...more } = edit;
    const change = changeLines(before, after);
    // What these lines do not tell is shown in another way.
    if (!change || typeof isEverywhere !== "boolean" || Object.keys(more).length > 0) return null;
    if (edits.length > 1) all.push(createLabel(`change ${n + 1} of ${edits.length}`));
    if (isEverywhere) all.push(createLabel("everywhere in the file"));
    for (const line of change) all.push(line);
  }
  return all;
}
