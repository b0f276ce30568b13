/** A small file of state in JSON: what was shown, what was sent. */
import { isRecord, type JsonRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { readOwnFile, type WriteOptions, writePrivateFile } from "./files.ts";

/** Returns {} if the file is missing or damaged. */
export function loadJsonState(path: string): JsonRecord {
  try {
    const value: unknown = JSON.parse(readOwnFile(path, limits.maxAlertStateBytes));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

export function saveJsonState(path: string, value: JsonRecord, options: WriteOptions = {}): void {
  writePrivateFile(path, JSON.stringify(value), options);
}
