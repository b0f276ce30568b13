/** Codex's hook payloads: the fields that beckon reads, and what of them is kept. */
import { asRecord, type JsonRecord, readText } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import { hashJson } from "../../core/text/json-text.ts";
import type { GuardRequest } from "../agent.ts";
import { readEditPaths } from "../edits.ts";
import { findSummary, readHookRequest } from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import { findHeredocPatch, listPatchedFiles, normalizePatch } from "../patch.ts";
import { summarizeQuestions } from "../questions.ts";
import type { SentCall } from "../tool-call.ts";

export interface CodexPayload {
  readonly sessionId: string;
  readonly eventName: string;
  readonly turnId: string | null;
  readonly agentId: string | null;
  readonly agentType: string | null;
  readonly cwd: string | null;
  readonly transcriptPath: string | null;
  readonly permissionMode: string | null;
  readonly model: string | null;
}

/** null if the payload names no session or no event. */
export function parsePayload(payload: JsonRecord): CodexPayload | null {
  const sessionId = readText(payload.session_id, limits.maxIdLength);
  const eventName = readText(payload.hook_event_name, limits.maxIdLength);
  if (sessionId === null || eventName === null) return null;
  return {
    sessionId,
    eventName,
    turnId: readText(payload.turn_id, limits.maxIdLength),
    agentId: readText(payload.agent_id, limits.maxIdLength),
    agentType: readText(payload.agent_type, limits.maxIdLength),
    cwd: readText(payload.cwd, limits.maxPathLength),
    transcriptPath: readText(payload.transcript_path, limits.maxPathLength),
    permissionMode: readText(payload.permission_mode, limits.maxIdLength),
    model: readText(payload.model, limits.maxIdLength),
  };
}

/**
 * A PermissionRequest has no id, and a description that the call itself does not have: calls are matched by the rest of the
 * input. A patch that is applied through the shell is the call of Bash, but the request of apply_patch (measured).
 */
export function readCall(payload: JsonRecord): SentCall {
  const name = readText(payload.tool_name, limits.maxIdLength) ?? "";
  const { description: _, ...rest } = asRecord(payload.tool_input);
  const patch = findPatch(name, rest);
  const tool = patch === null ? nameTool(name) : editTool;
  const input = patch === null ? rest : { command: patch };
  return {
    name,
    tool,
    toolUseId: readText(payload.tool_use_id, limits.maxIdLength),
    input,
    inputKey: hashJson(input),
    summary: summarizeCall(tool, input),
    ...readEditPaths({ [editTool]: "command" }, tool, input),
  };
}

export const applyPatch = "apply_patch";
export const askUser = "request_user_input";

/** How a change of files is shown. */
export const editTool = "Edit";

/** The names under which other agents' tools are shown that do the same. */
const toolNames: Readonly<Record<string, string>> = {
  [applyPatch]: editTool,
  exec_command: "Bash",
  shell: "Bash",
  local_shell: "Bash",
  spawn_agent: "Agent",
  web_search: "WebSearch",
};

const nameTool = (name: string): string =>
  Object.hasOwn(toolNames, name) ? (toolNames[name] ?? name) : name;

function findPatch(tool: string, { command }: JsonRecord): string | null {
  if (typeof command !== "string") return null;
  const patch = tool === applyPatch ? command : tool === "Bash" ? findHeredocPatch(command) : null;
  return patch && normalizePatch(patch);
}

function summarizeCall(tool: string, input: JsonRecord): string {
  if (tool === askUser) return summarizeQuestions(input.questions).summary;
  if (tool === editTool) return toOneLine(listPatchedFiles(String(input.command ?? "")).join(", "));
  return toOneLine(findSummary(input, "command"));
}

/** What Codex's hooks ask the work guard. null if the payload names no event. */
export const readGuardRequest = (payload: JsonRecord): GuardRequest | null =>
  readHookRequest(payload, "PreToolUse", () => {
    const { tool, editPaths = [] } = readCall(payload);
    return tool === editTool ? { tool, paths: editPaths } : null;
  });
