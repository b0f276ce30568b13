/** The tools with which Gemini CLI changes files, and what its hooks ask the work guard about them. Pure. */
import { asRecord, asText, type JsonRecord } from "../../core/json.ts";
import type { GuardRequest } from "../agent.ts";
import { type EditTools, readEditPaths } from "../edits.ts";
import { readId, readPath } from "../hook-event.ts";

export const editTools: EditTools = { replace: "file_path", write_file: "file_path" };

export function readGuardRequest(payload: JsonRecord): GuardRequest | null {
  const event = asText(payload.hook_event_name);
  if (event === "") return null;
  const tool = event === "BeforeTool" ? asText(payload.tool_name) : "";
  const { editPaths = [] } = readEditPaths(editTools, tool, asRecord(payload.tool_input));
  return {
    sessionId: readId(payload.session_id),
    cwd: readPath(payload.cwd),
    isStart: event === "SessionStart",
    edit: Object.hasOwn(editTools, tool) ? { tool, paths: editPaths } : null,
  };
}
