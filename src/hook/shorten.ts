/** Shortens a payload that is too large to send: that an event happened matters more than all of its text. */
import type { JsonRecord } from "../core/json.ts";
import { findStringEnd } from "../core/text/json-text.ts";

interface Bounds {
  readonly maxLength: number;
  /** The members of a list or object. */
  readonly maxItems: number;
  readonly maxDepth: number;
}

/** Tried one after the other. JSON.stringify throws at a depth of 50,000. */
const attempts: readonly Bounds[] = [
  { maxLength: 65_536, maxItems: 100_000, maxDepth: 500 },
  { maxLength: 4_096, maxItems: 1_000, maxDepth: 50 },
  { maxLength: 256, maxItems: 50, maxDepth: 4 },
];

const lastResort: Bounds = { maxLength: 256, maxItems: 50, maxDepth: 1 };

const maxIdentifierLength = 4_096;
const maxKeyLength = 256;

/**
 * JSON text of at most that many bytes. `identifiers` are the fields that come first and are shortened last. The last attempt
 * takes less than 500,000 bytes, whatever the payload.
 */
export function shorten(payload: JsonRecord, identifiers: readonly string[], maxBytes: number): string {
  const names: ReadonlySet<string> = new Set([...identifiers, "_meta"]);
  const entries = Object.entries(payload);
  const first = entries.filter(([name]) => names.has(name));
  const others = entries.filter(([name]) => !names.has(name));
  const sorted = Object.fromEntries([...first, ...others]);

  function cut(value: unknown, bounds: Bounds, depth: number, name = ""): unknown {
    if (typeof value === "string") {
      const max = names.has(name) ? Math.max(bounds.maxLength, maxIdentifierLength) : bounds.maxLength;
      return value.length > max ? `${value.slice(0, max)}…` : value;
    }
    if (typeof value !== "object" || value === null) return value;
    if (depth >= bounds.maxDepth) return null;
    if (Array.isArray(value))
      return value.slice(0, bounds.maxItems).map((item) => cut(item, bounds, depth + 1));
    const fields = Object.entries(value).slice(0, bounds.maxItems);
    return Object.fromEntries(
      fields.map(([key, field]) => [key.slice(0, maxKeyLength), cut(field, bounds, depth + 1, key)]),
    );
  }

  for (const bounds of attempts) {
    const text = JSON.stringify(cut(sorted, bounds, 0));
    if (Buffer.byteLength(text) <= maxBytes) return text;
  }
  return JSON.stringify(cut(sorted, lastResort, 0));
}

/** Measured: JSON.parse takes five seconds for an object of two million members, while the agent waits. */
const maxValues = 100_000;

/** Only the identifiers if the text has too many values to parse it in time. null if they are few, or it is not an object. */
export function readIdentifiersOfMany(text: string, identifiers: readonly string[]): JsonRecord | null {
  const names: ReadonlySet<string> = new Set(identifiers);
  const fields: Record<string, unknown> = {};
  let depth = 0;
  let count = 0;
  let name: string | null = null;
  if (!/^\s*\{/.test(text)) return null;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: {
        const end = findStringEnd(text, at);
        if (end < 0) return null;
        if (depth === 1 && end - at <= maxIdentifierLength) {
          const isName = /^\s*:/.test(text.slice(end + 1, end + 10));
          const inside = text.slice(at + 1, end);
          if (isName) name = names.has(inside) ? inside : null;
          else if (name !== null) fields[name] = parseString(text.slice(at, end + 1));
        }
        at = end;
        break;
      }
      case 0x5b:
      case 0x7b:
        depth++;
        count++;
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
      case 0x2c:
        count++;
        if (depth === 1) name = null;
        break;
    }
  }
  return count > maxValues ? fields : null;
}

function parseString(literal: string): unknown {
  try {
    return JSON.parse(literal);
  } catch {
    return undefined;
  }
}
