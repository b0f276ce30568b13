/** Sets one value in the text of a JSON file and leaves everything else as it is. For files that are not Claude Code's settings. */
import { applyEdits, type JSONPath, modify } from "jsonc-parser";
import { isBlank, type Json, parseSettings } from "./json-text.ts";

/** `value` undefined removes it. -1 as the last part of the path appends to a list. Throws SettingsError if it is not JSON. */
export function setJsonValue(text: string, path: JSONPath, value: Json | undefined): string {
  const { bom, body } = parseSettings(isBlank(text) ? "{}\n" : text);
  const isTabbed = /^\t/m.test(body);
  const eol = body.includes("\r\n") ? "\r\n" : "\n";
  const edits = modify(body, path, value, {
    isArrayInsertion: path.at(-1) === -1,
    formattingOptions: { insertSpaces: !isTabbed, tabSize: 2, eol },
  });
  return bom + applyEdits(body, edits);
}

/** The parsed file. Throws SettingsError if it is not a JSON object. */
export function parseJsonFile(text: string): unknown {
  const { body } = parseSettings(isBlank(text) ? "{}\n" : text);
  return JSON.parse(body);
}
