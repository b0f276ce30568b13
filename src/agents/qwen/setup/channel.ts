/**
 * `dualOutput` in Qwen Code's settings: files through which another program hears of its dialogs and answers them. It can name only one
 * pair of files, so the user's own stays.
 */
import { asRecord } from "../../../core/json.ts";
import { parseJsonFile } from "../../../user-files/json-edit.ts";
import { addMember, isBlank, removeMember } from "../../../user-files/json-text.ts";

const key = "dualOutput";
/** Qwen Code replaces the variable (run with 0.24.4). The paths are those of folder.ts. */
const own = { jsonFile: "$HOME/.qwen/beckon-events", inputFile: "$HOME/.qwen/beckon-answers.jsonl" };

const readChannel = (text: string): unknown =>
  isBlank(text) ? undefined : asRecord(parseJsonFile(text))[key];

export const hasChannel = (settings: unknown): boolean => Bun.deepEquals(asRecord(settings)[key], own);

/** The same string if the settings have one already. */
export const addChannel = (text: string): string =>
  readChannel(text) === undefined ? addMember(text, key, own) : text;

/** The same string if it is not beckon's. */
export const removeChannel = (text: string): string =>
  Bun.deepEquals(readChannel(text), own) ? removeMember(text, key) : text;
