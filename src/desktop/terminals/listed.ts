/** What a window system's own command prints as a JSON list of windows. */
import type { Window } from "./plan.ts";

export type WindowFields = Readonly<Record<string, unknown>>;

/** null: it is no list. Rows that `read` makes null of are left out. */
export function readWindows(list: unknown, read: (fields: WindowFields) => Window | null): Window[] | null {
  if (!Array.isArray(list)) return null;
  return list.flatMap((one) =>
    typeof one === "object" && one !== null ? (read(one as WindowFields) ?? []) : [],
  );
}

export function readListed(text: string, read: (fields: WindowFields) => Window | null): Window[] | null {
  try {
    return readWindows(JSON.parse(text), read);
  } catch {
    return null;
  }
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
