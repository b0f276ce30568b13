/** What a person asked for with clicks, and which alerts they have had. A damaged file is a person who asked for nothing. */
import { limits } from "../limits.ts";
import { writePrivate } from "./private.ts";
import { readSmallFile } from "./small-file.ts";

export function loadDesk(path: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(readSmallFile(path, limits.maxDeskBytes));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

export function saveDesk(path: string, value: Readonly<Record<string, unknown>>): void {
  writePrivate(path, JSON.stringify(value));
}
