/**
 * JSON as text: parsed with offsets, and edited so that everything else stays byte for byte and new members follow the layout
 * around them. Removing the members that were added last gives back the original text.
 */
import { type Node, type ParseError, parseTree } from "jsonc-parser";
import { isJson } from "../core/json.ts";
import { describeParseError, locateOffset } from "../storage/json-error.ts";

export class SettingsError extends Error {
  override readonly name = "SettingsError";
  /** Both start at 1. */
  readonly line: number;
  readonly column: number;

  constructor(text: string, offset: number, what: string) {
    const { line, column } = locateOffset(text, offset);
    super(`line ${line}, column ${column}: ${what}`);
    this.line = line;
    this.column = column;
  }
}

export interface SettingsText {
  /** The byte order mark, or empty. It is not part of the body. */
  readonly bom: string;
  readonly body: string;
  readonly root: Node;
}

const byteOrderMark = "\uFEFF";

/** Whether there is nothing but white space. */
export const isBlank = (text: string): boolean => text.replace(byteOrderMark, "").trim() === "";

/** Throws SettingsError if the text is not a JSON object. */
export function parseSettings(text: string): SettingsText {
  const bom = text.startsWith(byteOrderMark) ? byteOrderMark : "";
  const body = text.slice(bom.length);
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(body, errors, { disallowComments: true, allowTrailingComma: false });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SettingsError(body, 0, "nested too deeply to be read");
  }
  const [first] = errors.sort((a, b) => a.offset - b.offset);
  if (first) throw new SettingsError(body, first.offset, describeParseError(body, first));
  if (root?.type !== "object") throw new SettingsError(body, root?.offset ?? 0, "settings begin with {");
  if (!isJson(body)) throw new SettingsError(body, 0, "not valid JSON");
  return { bom, body, root };
}

export interface JsonProperty {
  readonly key: string;
  /** From its name to the end of its value. */
  readonly node: Node;
  readonly value: Node;
}

export function listProperties(object: Node): JsonProperty[] {
  if (object.type !== "object") return [];
  return (object.children ?? []).flatMap((node) => {
    const [name, value] = node.children ?? [];
    return name && value ? [{ key: String(name.value), node, value }] : [];
  });
}

/** If a key is there twice, the last one counts, as for JSON.parse and so for the agent. */
export const findProperty = (object: Node, key: string): JsonProperty | null =>
  listProperties(object).findLast((property) => property.key === key) ?? null;

export const listItems = (array: Node | undefined): readonly Node[] =>
  array?.type === "array" ? (array.children ?? []) : [];

export const endOf = ({ offset, length }: Node): number => offset + length;

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export interface JsonLayout {
  /** What ends a line. Null if everything is on one line. */
  readonly eol: string | null;
  /** The indentation of one level. */
  readonly unit: string;
  readonly colon: string;
  /** On one line: the space after a comma, and inside braces. */
  readonly gap: string;
  readonly pad: string;
}

/** The white space at the start of the line with this offset. */
export function lineIndent(body: string, offset: number): string {
  const start = body.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(body.slice(start, start + 1000))?.[0] ?? "";
}

function startsLine(body: string, offset: number): boolean {
  const start = body.lastIndexOf("\n", offset - 1) + 1;
  return start > 0 && body.slice(start, offset).trim() === "";
}

export function detectLayout(body: string, root: Node): JsonLayout {
  const newline = body.indexOf("\n");
  const eol = newline > 0 && body[newline - 1] === "\r" ? "\r\n" : "\n";
  const [first] = listProperties(root);
  const name = first?.node.children?.[0];
  const between = first && name ? body.slice(endOf(name), first.value.offset) : ": ";
  const colon = /[\r\n]/.test(between) ? ": " : between;
  const gap = /\s$/.test(colon) ? " " : "";
  return { eol, unit: detectUnit(body, root), colon, gap, pad: "" };
}

const maxNodes = 1000;
const maxPerLevel = 100;

/** From the first member, level by level, that is indented deeper than its container. Two spaces if there is none. */
function detectUnit(body: string, root: Node): string {
  for (let level = [root], left = maxNodes; level.length > 0 && left > 0; left -= level.length) {
    const next: Node[] = [];
    for (const container of level) {
      const members = (container.children ?? []).slice(0, maxPerLevel);
      for (const member of members) {
        const unit = indentOfMember(body, container, member);
        if (unit !== null) return unit;
      }
      if (next.length < maxPerLevel) next.push(...members.flatMap((member) => member.children ?? member));
    }
    level = next;
  }
  return "  ";
}

/** How much deeper a member is indented than its container. Null if it does not start a line. */
function indentOfMember(body: string, container: Node, member: Node): string | null {
  if (!startsLine(body, member.offset)) return null;
  const outer = lineIndent(body, container.offset);
  const inner = lineIndent(body, member.offset);
  return inner.startsWith(outer) && inner.length > outer.length ? inner.slice(outer.length) : null;
}

/** The first line is not indented; the others are, from `indent` on. */
export function formatValue(value: Json, layout: JsonLayout, indent: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = indent + layout.unit;
  const isArray = Array.isArray(value);
  const members = isArray
    ? value.map((item: Json) => formatValue(item, layout, inner))
    : Object.entries(value).map(([key, item]) => formatProperty(key, item, layout, inner));
  const [open, close] = isArray ? ["[", "]"] : ["{", "}"];
  if (members.length === 0) return open + close;
  if (layout.eol === null) {
    const pad = isArray ? "" : layout.pad;
    return `${open}${pad}${members.join(`,${layout.gap}`)}${pad}${close}`;
  }
  const { eol } = layout;
  return `${open}${members.map((member) => eol + inner + member).join(",")}${eol}${indent}${close}`;
}

export const formatProperty = (key: string, value: Json, layout: JsonLayout, indent: string): string =>
  `${JSON.stringify(key)}${layout.colon}${formatValue(value, layout, indent)}`;

/** Replaces the text from `start` to `end`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export function applyEdits(body: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text } of [...edits].sort((a, b) => a.start - b.start)) {
    parts.push(body.slice(at, start), text);
    at = end;
  }
  return parts.join("") + body.slice(at);
}

/** Formats a new member for the layout and indentation of the place where it goes. */
export type FormatMember = (layout: JsonLayout, indent: string) => string;

/** Adds members at the end of an object or array, or behind one of its members. */
export function appendMembers(
  body: string,
  container: Node,
  layout: JsonLayout,
  members: readonly FormatMember[],
  after: Node | undefined = container.children?.at(-1),
): Edit {
  return after
    ? appendAfter(body, container, after, layout, members)
    : fillEmpty(body, container, layout, members);
}

function appendAfter(
  body: string,
  container: Node,
  last: Node,
  fileLayout: JsonLayout,
  members: readonly FormatMember[],
): Edit {
  const siblings = container.children ?? [];
  const previous = siblings[siblings.indexOf(last) - 1];
  const from = previous ? body.indexOf(",", endOf(previous)) + 1 : container.offset + 1;
  const space = body.slice(from, last.offset);
  const newline = space.lastIndexOf("\n");
  const at = endOf(last);
  const insert = (separator: string, layout: JsonLayout, indent: string): Edit => ({
    start: at,
    end: at,
    text: members.map((format) => `,${separator}${format(layout, indent)}`).join(""),
  });
  if (newline < 0) {
    const gap = previous ? space : fileLayout.gap;
    const isMultiline = body.slice(last.offset, at).includes("\n");
    if (isMultiline) return insert(gap, fileLayout, lineIndent(body, at - 1));
    const pad = /\{ /.test(body.slice(container.offset, at)) ? " " : "";
    return insert(gap, { ...fileLayout, eol: null, pad }, "");
  }
  const eol = space[newline - 1] === "\r" ? "\r\n" : "\n";
  const indent = space.slice(newline + 1);
  const unit = indentOfMember(body, container, last) ?? fileLayout.unit;
  return insert(eol + indent, { ...fileLayout, eol, unit }, indent);
}

/**
 * Marks that an empty {} or [] was there before it was filled, so that it can be restored: white space at the end of the line
 * on which it begins. formatValue never writes such space.
 */
const fillMark = { onOneLine: "  ", beforeLine: " ", closesLine: "\t" } as const;

function fillEmpty(
  body: string,
  container: Node,
  layout: JsonLayout,
  members: readonly FormatMember[],
): Edit {
  const isRoot = container.parent === undefined;
  const inside = { start: container.offset + 1, end: endOf(container) - 1 };
  const space = body.slice(inside.start, inside.end);
  const isMultiline = space.includes("\n");
  if (!isRoot && !isMultiline && !startsLine(body, container.parent?.offset ?? 0)) {
    const text = members.map((format) => format({ ...layout, eol: null }, "")).join(`,${layout.gap}`);
    return { ...inside, text: space + fillMark.onOneLine + text };
  }
  const eol = layout.eol ?? "\n";
  const outer = lineIndent(body, container.offset);
  const indent = outer + layout.unit;
  const text = members.map((format) => eol + indent + format({ ...layout, eol }, indent)).join(",");
  if (isMultiline) return { start: inside.start, end: inside.start, text: fillMark.closesLine + text };
  const opening = isRoot && space === "" ? "" : space + fillMark.beforeLine;
  return { ...inside, text: opening + text + eol + outer };
}

/** What was between the brackets before fillEmpty filled them. Null if the brackets were not there before. */
export function readSpaceBeforeFill(body: string, container: Node): string | null {
  const [first, last] = [container.children?.[0], container.children?.at(-1)];
  if (!first || !last) return null;
  const space = body.slice(container.offset + 1, first.offset);
  const newline = space.lastIndexOf("\n");
  if (newline < 0)
    return space.endsWith(fillMark.onOneLine) ? space.slice(0, -fillMark.onOneLine.length) : null;
  const opening = space.slice(0, newline).replace(/\r$/, "");
  if (opening === fillMark.closesLine) return body.slice(endOf(last), endOf(container) - 1);
  return opening.endsWith(fillMark.beforeLine) ? opening.slice(0, -fillMark.beforeLine.length) : null;
}

/** Replaces everything between the brackets. */
export const replaceContent = (container: Node, text: string): Edit => ({
  start: container.offset + 1,
  end: endOf(container) - 1,
  text,
});

/** Removes members with their commas. At least one member must stay. */
export function removeMembers(container: Node, removed: ReadonlySet<Node>): Edit[] {
  const members = container.children ?? [];
  const edits: Edit[] = [];
  for (let i = 0; i < members.length; i++) {
    const first = members[i];
    if (!first || !removed.has(first)) continue;
    const before = members[i - 1];
    while (members[i + 1] && removed.has(members[i + 1] as Node)) i++;
    const [last = first, next] = [members[i], members[i + 1]];
    if (before) edits.push({ start: endOf(before), end: endOf(last), text: "" });
    else if (next) edits.push({ start: first.offset, end: next.offset, text: "" });
  }
  return edits;
}

/** Adds a member at the end of the settings. removeMember() restores the text exactly. */
export function addMember(text: string, key: string, value: Json): string {
  const { bom, body, root } = parseSettings(isBlank(text) ? "{}\n" : text);
  const member = appendMembers(body, root, detectLayout(body, root), [
    (layout, indent) => formatProperty(key, value, layout, indent),
  ]);
  return bom + applyEdits(body, [member]);
}

export function removeMember(text: string, key: string): string {
  const { bom, body, root } = parseSettings(text);
  const members = listProperties(root).filter((member) => member.key === key);
  const nodes = new Set(members.map(({ node }) => node));
  const isOnly = nodes.size === (root.children ?? []).length;
  const edits = isOnly
    ? [replaceContent(root, readSpaceBeforeFill(body, root) ?? "")]
    : removeMembers(root, nodes);
  return bom + applyEdits(body, edits);
}
