/** A small file of state in JSON: what was shown, what was sent. */
import { basename } from "node:path";
import { isRecord, type JsonRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { errorCode, readOwnFile, type WriteOptions, writePrivateFile } from "./files.ts";
import { setDamagedAside } from "./set-aside.ts";

export interface LoadedJsonState {
  /** {} if the file is missing or damaged. */
  readonly value: JsonRecord;
  /** A sentence for the log and the user. null if the file is good or missing. */
  readonly problem: string | null;
}

/** A damaged file is renamed, unless `readOnly` is set. */
export function loadJsonState(path: string, { readOnly = false } = {}): LoadedJsonState {
  const state = readState(path);
  if (typeof state !== "string") return { value: state, problem: null };
  const renamed = readOnly ? "" : setDamagedAside(path);
  return { value: {}, problem: `${basename(path)} ${state}${renamed}: beckon goes on without what it had` };
}

/** A string says what is wrong with the file. */
function readState(path: string): JsonRecord | string {
  try {
    const value: unknown = JSON.parse(readOwnFile(path, limits.maxJsonStateBytes));
    return isRecord(value) ? value : "is damaged (not an object)";
  } catch (error) {
    if (errorCode(error) === "ENOENT") return {};
    return error instanceof SyntaxError ? "is damaged (not JSON)" : `cannot be read (${errorCode(error)})`;
  }
}

export function saveJsonState(path: string, value: JsonRecord, options: WriteOptions = {}): void {
  writePrivateFile(path, JSON.stringify(value), options);
}
