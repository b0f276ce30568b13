/** opencode's tools and permissions in words, and what a call is about in one line. */
import { asRecord, asText, type JsonRecord } from "../../core/json.ts";
import type { EditTools } from "../edits.ts";
import { toOneLine } from "../one-line.ts";
import { asStrings } from "./payload.ts";

/** As they are shown. Tools that are not listed, such as those of MCP servers, keep their names. */
export const toolNames: Readonly<Record<string, string>> = {
  apply_patch: "Patch",
  bash: "Bash",
  codesearch: "Code search",
  doom_loop: "the same call again",
  edit: "Edit",
  external_directory: "files outside of the project",
  glob: "Glob",
  grep: "Grep",
  list: "List",
  lsp: "Language server",
  multiedit: "Edit",
  patch: "Patch",
  question: "Question",
  read: "Read",
  skill: "Skill",
  task: "Task",
  todoread: "Todo list",
  todowrite: "Todo list",
  webfetch: "WebFetch",
  websearch: "WebSearch",
  write: "Write",
};

/** Tool → the field of its input that names the file that it changes, or has the patch. */
export const editTools: EditTools = {
  apply_patch: "patchText",
  edit: "filePath",
  multiedit: "filePath",
  patch: "patchText",
  write: "filePath",
};

export const nameTool = (tool: string): string =>
  Object.hasOwn(toolNames, tool) ? (toolNames[tool] ?? tool) : tool;

/** Fields that describe a call best, the best first. */
const summaryFields = [
  "command",
  "filePath",
  "filepath",
  "path",
  "url",
  "query",
  "pattern",
  "description",
  "name",
];

export function summarizeInput(input: JsonRecord): string {
  const named = summaryFields.map((name) => input[name]).find((value) => typeof value === "string");
  return toOneLine(asText(named ?? Object.values(input).find((value) => typeof value === "string")));
}

/** What a permission is asked for: the command or file if opencode says so, else the patterns that it matched. */
export function summarizePermission({ metadata, input, patterns }: JsonRecord): string {
  return (
    summarizeInput(asRecord(metadata)) ||
    summarizeInput(asRecord(input)) ||
    toOneLine(asStrings(patterns).join(", "))
  );
}
