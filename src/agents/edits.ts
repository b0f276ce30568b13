/** Which files a tool call changes. Pure. */
import { type JsonRecord, readText } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import { listPatchedFiles } from "./patch.ts";

/** Tool → the field of its input that names the file, or that has a patch. */
export type EditTools = Readonly<Record<string, string>>;

/** Fields for a change: empty if the tool changes no file, or the call names none. */
export function readEditPaths(
  tools: EditTools,
  tool: string,
  input: JsonRecord,
): { readonly editPaths?: readonly string[] } {
  const field = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  const editPaths = field === undefined ? [] : listEditedFiles(input[field]);
  return editPaths.length === 0 ? {} : { editPaths };
}

/** `value` is the path of a file, or a patch. */
export function listEditedFiles(value: unknown): readonly string[] {
  const isPatch = typeof value === "string" && /^[\s\u0085]*\*\*\* /m.test(value);
  const paths = isPatch ? listPatchedFiles(value) : [value];
  return paths.map((path) => readText(path, limits.maxPathLength)).filter((path) => path !== null);
}
