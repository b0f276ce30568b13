/**
 * Members put into an object or array of a text, and taken out again: what is added last is taken away with exactly the
 * comma and space that came with it.
 */
import type { Node } from "jsonc-parser";
import { type JsonLayout, lineIndent, startsLine, unitWithin } from "./layout.ts";
import { endOf } from "./text.ts";

export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export function apply(body: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text } of [...edits].sort((a, b) => a.start - b.start)) {
    parts.push(body.slice(at, start), text);
    at = end;
  }
  return parts.join("") + body.slice(at);
}

/** A member's text, for the layout and indentation of the place where it goes. */
export type Member = (layout: JsonLayout, indent: string) => string;

export function append(body: string, holder: Node, file: JsonLayout, members: readonly Member[]): Edit {
  const last = holder.children?.at(-1);
  return last ? appendAfter(body, holder, last, file, members) : fill(body, holder, file, members);
}

function appendAfter(
  body: string,
  holder: Node,
  last: Node,
  file: JsonLayout,
  members: readonly Member[],
): Edit {
  const previous = holder.children?.at(-2);
  const from = previous ? body.indexOf(",", endOf(previous)) + 1 : holder.offset + 1;
  const space = body.slice(from, last.offset);
  const newline = space.lastIndexOf("\n");
  const at = endOf(last);
  if (newline < 0) {
    const gap = previous ? space : file.gap;
    const isBroken = body.slice(last.offset, at).includes("\n");
    const pad = /\{ /.test(body.slice(holder.offset, at)) ? " " : "";
    const layout = isBroken ? file : { ...file, eol: null, pad };
    const indent = isBroken ? lineIndent(body, at - 1) : "";
    return { start: at, end: at, text: members.map((member) => `,${gap}${member(layout, indent)}`).join("") };
  }
  const eol = space[newline - 1] === "\r" ? "\r\n" : "\n";
  const indent = space.slice(newline + 1);
  const layout = { ...file, eol, unit: unitWithin(body, holder, last) ?? file.unit };
  return {
    start: at,
    end: at,
    text: members.map((member) => `,${eol}${indent}${member(layout, indent)}`).join(""),
  };
}

/**
 * An empty {} or [] that was there leaves a trace when it is filled, and so can be given back as it was: space at the
 * end of the line that it begins on, which a file that we laid out ourselves never has.
 */
const trace = { onOneLine: "  ", beforeLine: " ", closesLine: "\t" } as const;

function fill(body: string, holder: Node, file: JsonLayout, members: readonly Member[]): Edit {
  const isRoot = holder.parent === undefined;
  const within = { start: holder.offset + 1, end: endOf(holder) - 1 };
  const space = body.slice(within.start, within.end);
  const isBroken = space.includes("\n");
  if (!isRoot && !isBroken && !startsLine(body, holder.parent?.offset ?? 0)) {
    const layout = { ...file, eol: null };
    const text = members.map((member) => member(layout, "")).join(`,${file.gap}`);
    return { ...within, text: space + trace.onOneLine + text };
  }
  const eol = file.eol ?? "\n";
  const outer = lineIndent(body, holder.offset);
  const indent = outer + file.unit;
  const text = members.map((member) => eol + indent + member({ ...file, eol }, indent)).join(",");
  if (isBroken) return { start: within.start, end: within.start, text: trace.closesLine + text };
  const opening = isRoot && space === "" ? "" : space + trace.beforeLine;
  return { ...within, text: opening + text + eol + outer };
}

/** What was between the brackets before all members were ours; null: the brackets came with them. */
export function emptied(body: string, holder: Node): string | null {
  const [first, last] = [holder.children?.[0], holder.children?.at(-1)];
  if (!first || !last) return null;
  const space = body.slice(holder.offset + 1, first.offset);
  const newline = space.lastIndexOf("\n");
  if (newline < 0) return space.endsWith(trace.onOneLine) ? space.slice(0, -trace.onOneLine.length) : null;
  const opening = space.slice(0, newline).replace(/\r$/, "");
  if (opening === trace.closesLine) return body.slice(endOf(last), endOf(holder) - 1);
  return opening.endsWith(trace.beforeLine) ? opening.slice(0, -trace.beforeLine.length) : null;
}

export const refill = (holder: Node, text: string): Edit => ({
  start: holder.offset + 1,
  end: endOf(holder) - 1,
  text,
});

/** At least one member stays. */
export function cut(holder: Node, gone: ReadonlySet<Node>): Edit[] {
  const members = holder.children ?? [];
  const edits: Edit[] = [];
  for (let i = 0; i < members.length; i++) {
    const first = members[i];
    if (!first || !gone.has(first)) continue;
    const before = members[i - 1];
    while (members[i + 1] && gone.has(members[i + 1] as Node)) i++;
    const [last = first, next] = [members[i], members[i + 1]];
    if (before) edits.push({ start: endOf(before), end: endOf(last), text: "" });
    else if (next) edits.push({ start: first.offset, end: next.offset, text: "" });
  }
  return edits;
}
