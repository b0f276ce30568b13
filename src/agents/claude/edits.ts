/** The tools with which Claude Code changes files. Pure. */
import { type JsonRecord, readText } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";

/** Tool → the field of its input that names the file. */
const editTools: Readonly<Record<string, string>> = {
  Edit: "file_path",
  Write: "file_path",
  MultiEdit: "file_path",
  NotebookEdit: "notebook_path",
};

export const editToolNames: readonly string[] = Object.keys(editTools);

export const isEditTool = (tool: string): boolean => Object.hasOwn(editTools, tool);

/** null if the tool changes no file, or the call names none. */
export function findEditedFile(tool: string, input: JsonRecord): string | null {
  return isEditTool(tool) ? readText(input[editTools[tool] ?? ""], limits.maxPathLength) : null;
}
