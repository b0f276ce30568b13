/** Which file a tool call changes. Pure. */
import { type JsonRecord, readText } from "../core/json.ts";
import { limits } from "../core/limits.ts";

/** Tool → the field of its input that names the file. */
export type EditTools = Readonly<Record<string, string>>;

/** Fields for a change: empty if the tool changes no file, or the call names none. */
export function readEditPath(
  tools: EditTools,
  tool: string,
  input: JsonRecord,
): { readonly editPath?: string } {
  const field = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  const editPath = field === undefined ? null : readText(input[field], limits.maxPathLength);
  return editPath === null ? {} : { editPath };
}
