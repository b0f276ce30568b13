/** How a settings file is laid out, and our own values written the same way. */
import type { Node } from "jsonc-parser";
import { endOf, propertiesOf } from "./text.ts";

export type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };

export interface JsonLayout {
  /** What ends a line; null: all on one line. */
  readonly eol: string | null;
  readonly unit: string;
  readonly colon: string;
  /** On one line: after a comma, and inside of braces. */
  readonly gap: string;
  readonly pad: string;
}

/** The space at the start of the line that this place is on. */
export function lineIndent(body: string, offset: number): string {
  const start = body.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(body.slice(start, start + 1000))?.[0] ?? "";
}

/** Only space before it on its line. */
export function startsLine(body: string, offset: number): boolean {
  const start = body.lastIndexOf("\n", offset - 1) + 1;
  return start > 0 && body.slice(start, offset).trim() === "";
}

export function layoutOf(body: string, root: Node): JsonLayout {
  const newline = body.indexOf("\n");
  const eol = newline > 0 && body[newline - 1] === "\r" ? "\r\n" : "\n";
  const [first] = propertiesOf(root);
  const name = first?.node.children?.[0];
  const between = first && name ? body.slice(endOf(name), first.value.offset) : ": ";
  const colon = /[\r\n]/.test(between) ? ": " : between;
  const gap = /\s$/.test(colon) ? " " : "";
  return { eol, unit: unitOf(body, root), colon, gap, pad: "" };
}

/** From the first member, outside in, that stands deeper than what holds it. */
function unitOf(body: string, root: Node): string {
  for (let level = [root], left = 1000; level.length > 0 && left > 0; left -= level.length) {
    const next: Node[] = [];
    for (const holder of level) {
      const members = holder.children ?? [];
      for (const member of members.slice(0, 100)) {
        const unit = unitWithin(body, holder, member);
        if (unit !== null) return unit;
      }
      if (next.length < 100)
        next.push(...members.slice(0, 100).flatMap((member) => member.children ?? member));
    }
    level = next;
  }
  return "  ";
}

export function unitWithin(body: string, holder: Node, member: Node): string | null {
  if (!startsLine(body, member.offset)) return null;
  const outer = lineIndent(body, holder.offset);
  const inner = lineIndent(body, member.offset);
  return inner.startsWith(outer) && inner.length > outer.length ? inner.slice(outer.length) : null;
}

/** The first line stands where it is put; the others are indented from `indent`. */
export function write(value: Json, layout: JsonLayout, indent: string): string {
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = indent + layout.unit;
  const isArray = Array.isArray(value);
  const members = isArray
    ? value.map((item: Json) => write(item, layout, inner))
    : Object.entries(value).map(([key, item]) => writeProperty(key, item, layout, inner));
  const [open, close] = isArray ? ["[", "]"] : ["{", "}"];
  if (layout.eol === null) {
    const pad = isArray ? "" : layout.pad;
    return `${open}${pad}${members.join(`,${layout.gap}`)}${pad}${close}`;
  }
  const { eol } = layout;
  return `${open}${members.map((member) => eol + inner + member).join(",")}${eol}${indent}${close}`;
}

export const writeProperty = (key: string, value: Json, layout: JsonLayout, indent: string): string =>
  `${JSON.stringify(key)}${layout.colon}${write(value, layout, indent)}`;
