/** What a person asked for with clicks, and which alerts they have had. A damaged file is a person who asked for nothing. */
import { type Preferences, parsePreferences } from "../core/config/preferences.ts";
import { limits } from "../core/limits.ts";
import { readSmallFile, writePrivateFile } from "../storage/files.ts";

export function loadAlertState(path: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(readSmallFile(path, limits.maxDeskBytes));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

export function loadPreferences(path: string): Preferences {
  return parsePreferences(loadAlertState(path).wishes);
}

export function saveAlertState(path: string, value: Readonly<Record<string, unknown>>): void {
  writePrivateFile(path, JSON.stringify(value));
}
