/** Shortens a payload that is too large to send: that an event happened matters more than all of its text. */
type Fields = Readonly<Record<string, unknown>>;

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
export function shorten(payload: Fields, identifiers: readonly string[], maxBytes: number): string {
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
