/** The file that keeps the user's preferences and the alerts already shown, so that a restart repeats none. */
import { type Preferences, parsePreferences } from "../core/config/preferences.ts";
import { isRecord, type JsonRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { readOwnFile, writePrivateFile } from "../storage/files.ts";

/** Returns {} if the file is missing or damaged: the user then has no preferences, and alerts may be shown once more. */
export function loadAlertState(path: string): JsonRecord {
  try {
    const value: unknown = JSON.parse(readOwnFile(path, limits.maxAlertStateBytes));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** Version 0.1 saved them as `wishes`. */
export function readPreferences(state: JsonRecord): Preferences {
  return parsePreferences(state.preferences ?? state.wishes);
}

export function saveAlertState(path: string, value: JsonRecord): void {
  writePrivateFile(path, JSON.stringify(value));
}
