/** The tools with which Claude Code changes files, and what its hooks ask the work guard about them. Pure. */
import { asRecord, type JsonRecord, readText } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { GuardRequest } from "../agent.ts";
import { type EditTools, readEditPaths } from "../edits.ts";

export const editTools: EditTools = {
  Edit: "file_path",
  Write: "file_path",
  MultiEdit: "file_path",
  NotebookEdit: "notebook_path",
};

/** Also with names in the form `pre-tool-use`, and without a session. */
export function readGuardRequest(payload: JsonRecord): GuardRequest | null {
  const name = readText(payload.hook_event_name ?? payload.hook_type, limits.maxIdLength);
  if (name === null) return null;
  const event = name.replaceAll("-", "").toLowerCase();
  const tool = event === "pretooluse" ? readText(payload.tool_name, limits.maxIdLength) : null;
  const isEdit = tool !== null && Object.hasOwn(editTools, tool);
  return {
    sessionId: readText(payload.session_id, limits.maxIdLength),
    cwd: readText(payload.cwd, limits.maxPathLength),
    isStart: event === "sessionstart",
    edit: isEdit
      ? { tool, paths: readEditPaths(editTools, tool, asRecord(payload.tool_input)).editPaths ?? [] }
      : null,
  };
}
