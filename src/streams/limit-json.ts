/** Makes a JSON value fit into a number of characters, keeping its shape as far as possible. */
import { isRecord } from "../core/json.ts";
import { truncate } from "../core/text/truncate.ts";

const maxItems = 20;
const maxDepth = 6;
/** Tried one after the other. */
const textLengths = [400, 100, 20];

/** Returns the JSON text of the value, or of a shortened copy of it. */
export function limitJson(value: unknown, maxLength: number): string {
  const whole = stringify(value);
  if (whole !== null && whole.length <= maxLength) return whole;
  for (const length of textLengths) {
    const text = stringify(shorten(value, length, 0));
    if (text !== null && text.length <= maxLength) return text;
  }
  return '{"truncated":true}';
}

/** The value itself if it fits, or a shortened copy. */
export function limitValue(value: unknown, maxLength: number): unknown {
  const whole = stringify(value);
  return whole !== null && whole.length <= maxLength ? value : JSON.parse(limitJson(value, maxLength));
}

function shorten(value: unknown, length: number, depth: number): unknown {
  if (typeof value === "string") return truncate(value, length);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= maxDepth) return "…";
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => shorten(item, length, depth + 1));
  if (!isRecord(value)) return null;
  const entries = Object.entries(value).slice(0, maxItems * 2);
  return Object.fromEntries(
    entries.map(([key, item]) => [truncate(key, 100), shorten(item, length, depth + 1)]),
  );
}

/** null if it is nested too deeply. */
function stringify(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    return null;
  }
}
