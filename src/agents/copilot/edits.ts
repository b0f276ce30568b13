/**
 * The tools with which Copilot CLI changes files. beckon registers no hook of its own that could refuse an edit, because one that is
 * missing would refuse every tool. But Copilot CLI runs the hooks of a project's .claude/settings.local.json too, and obeys the work
 * guard's hook for Claude Code there (measured with 1.0.102). Pure.
 */
import { asRecord, asText, type JsonRecord } from "../../core/json.ts";
import type { GuardRequest } from "../agent.ts";
import { readEditPaths } from "../edits.ts";
import { readId, readPath } from "../hook-event.ts";
import { nameTool } from "./names.ts";

const editTools: ReadonlySet<string> = new Set(["Edit", "Write"]);

/** Fields for a change. Hooks name the tool as Claude Code does, also that of a patch, which is in `input`. */
export function readEditedFiles(tool: string, input: JsonRecord): { readonly editPaths?: readonly string[] } {
  if (!editTools.has(nameTool(tool))) return {};
  return readEditPaths({ [tool]: input.path === undefined ? "input" : "path" }, tool, input);
}

export function readGuardRequest(payload: JsonRecord): GuardRequest | null {
  const event = asText(payload.hook_event_name);
  if (event === "") return null;
  const tool = event === "PreToolUse" ? asText(payload.tool_name) : "";
  const { editPaths: paths = [] } = readEditedFiles(tool, asRecord(payload.tool_input));
  return {
    sessionId: readId(payload.session_id),
    cwd: readPath(payload.cwd),
    isStart: event === "SessionStart",
    edit: editTools.has(nameTool(tool)) ? { tool: nameTool(tool), paths } : null,
  };
}
