/** Reading values of unknown shape. */

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns {} for anything that is not an object. */
export function asRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

/** Returns null for anything but a string of 1 to `max` characters. */
export function readText(value: unknown, max: number): string | null {
  return typeof value === "string" && value.length > 0 && value.length <= max ? value : null;
}

/** "" for anything but text. */
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");

/** [] for anything that is not a list. */
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Text of any length; null for anything else. */
export const readString = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** null for anything but a finite number. */
export const readNumber = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;

/** A pid, an id, an amount: an exact integer above 0. null for anything else. */
export const readPositive = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;

/** A count, 0 for anything else. */
export const asCount = (value: unknown): number => readPositive(value) ?? 0;

export const readFlag = (value: unknown): boolean | null => (typeof value === "boolean" ? value : null);

/** undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether brackets are nested deeper than `max`. Reading a megabyte of them as JSON takes 0.1 s; this stops at the first too many. */
export function isNestedDeeper(text: string, max: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (char === '"') isInString = !isInString;
    else if (isInString) index += char === "\\" ? 1 : 0;
    else if (char === "[" || char === "{") {
      if (++depth > max) return true;
    } else if (char === "]" || char === "}") depth--;
  }
  return false;
}

export const isJson = (text: string): boolean => parseJson(text) !== undefined;

/** null if the text is not the JSON of an object. */
export function parseRecordOrNull(text: string): JsonRecord | null {
  const value = parseJson(text);
  return isRecord(value) ? value : null;
}

/** Returns {} if the text is not the JSON of an object. */
export const parseRecord = (text: string): JsonRecord => parseRecordOrNull(text) ?? {};

/** The objects of a list. */
export const listRecords = (value: unknown): readonly JsonRecord[] => asList(value).filter(isRecord);

/** The wall time that a text names. null if it names none. */
export function readTime(value: unknown): number | null {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}
