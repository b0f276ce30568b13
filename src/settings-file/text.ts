/** Settings as text and as a tree with offsets, and what is wrong with them in people's words. */
import { type Node, type ParseError, parseTree } from "jsonc-parser";
import { describeParseError, locateOffset } from "../storage/json-error.ts";

export class SettingsError extends Error {
  override readonly name = "SettingsError";
  /** Both counted from 1. */
  readonly line: number;
  readonly column: number;

  constructor(text: string, offset: number, what: string) {
    const { line, column } = locateOffset(text, offset);
    super(`line ${line}, column ${column}: ${what}`);
    this.line = line;
    this.column = column;
  }
}

export interface Settings {
  /** A byte order mark is kept, and is not part of the body. */
  readonly bom: string;
  readonly body: string;
  readonly root: Node;
}

const byteOrderMark = "\uFEFF";

/** Nothing but space: no settings yet. */
export const isBlank = (text: string): boolean => text.replace(byteOrderMark, "").trim() === "";

export function parseSettings(text: string): Settings {
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
  if (root?.type !== "object") {
    throw new SettingsError(body, root?.offset ?? 0, "settings begin with {");
  }
  if (!isJson(body)) throw new SettingsError(body, 0, "not valid JSON");
  return { bom, body, root };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export interface Property {
  readonly key: string;
  /** From its name to the end of its value. */
  readonly node: Node;
  readonly value: Node;
}

export function propertiesOf(object: Node): Property[] {
  if (object.type !== "object") return [];
  return (object.children ?? []).flatMap((node) => {
    const [name, value] = node.children ?? [];
    return name && value ? [{ key: String(name.value), node, value }] : [];
  });
}

/** Of a name that is there twice only the last counts, for JSON.parse and so for the agent. */
export const property = (object: Node, key: string): Property | null =>
  propertiesOf(object).findLast((found) => found.key === key) ?? null;

export const itemsOf = (array: Node | undefined): readonly Node[] =>
  array?.type === "array" ? (array.children ?? []) : [];

export const endOf = ({ offset, length }: Node): number => offset + length;
