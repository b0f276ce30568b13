/** Translates Gemini CLI's hook events into beckon's own. Nothing else gives them a meaning. */
import { asRecord, asText, type JsonRecord } from "../../core/json.ts";
import type { AgentEvent, Change } from "../../core/session/event.ts";
import type { EventDetails, EventStamp, GuardRequest } from "../agent.ts";
import type { EditTools } from "../edits.ts";
import type { HookMessage } from "../envelope.ts";
import {
  createPrompt,
  createTurnEnd,
  readEdit,
  readHookRequest,
  readId,
  readTrimmedResponse,
  stripFields,
  translateHook,
} from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import {
  createQuestion,
  createToolEnd,
  createToolStart,
  readToolCall,
  type SentCall,
  type ToolTable,
} from "../tool-call.ts";

const questionTool = "ask_user";

export const translate = (hook: HookMessage, stamp: EventStamp): AgentEvent | null =>
  translateHook(hook, stamp, "gemini", createChange);

/** The tools with which Gemini CLI changes files. */
export const editTools: EditTools = { replace: "file_path", write_file: "file_path" };

export const readGuardRequest = (payload: JsonRecord): GuardRequest | null =>
  readHookRequest(payload, "BeforeTool", (tool, input) => readEdit(editTools, tool, input));

function createChange(name: string, payload: JsonRecord): Change {
  switch (name) {
    case "SessionStart":
      return { kind: "session-start", source: readId(payload.source) ?? "startup", model: null };
    case "SessionEnd":
      return { kind: "session-end", reason: readId(payload.reason) };
    case "BeforeAgent":
      return createPrompt(payload.prompt);
    case "BeforeTool":
      // The notification of a question says nothing about it. Its dialog comes 70 to 200 ms after the call.
      return payload.tool_name === questionTool
        ? createQuestion(readCall(payload))
        : createToolStart(readCall(payload));
    case "AfterTool":
      return createToolEnd(readCall(payload));
    case "Notification":
      return payload.notification_type === "ToolPermission"
        ? createAsk(asRecord(payload.details), asText(payload.message))
        : { kind: "no-change" };
    case "AfterAgent":
      return createTurnEnd({ lastResponse: readTrimmedResponse(payload.prompt_response) });
    // PreCompress comes before every request to the model (36 of 36), not only before it compresses.
    default:
      return { kind: "no-change" };
  }
}

const shell = "Shell";
const plan = "Plan";
const edit = "Edit";
const write = "WriteFile";

/** The names that Gemini CLI shows. */
const table: ToolTable = {
  tools: {
    activate_skill: ["Skill", "name"],
    ask_user: ["Ask User"],
    exit_plan_mode: [plan],
    glob: ["FindFiles", "pattern"],
    google_web_search: ["GoogleSearch", "query"],
    grep_search: ["SearchText", "pattern"],
    list_directory: ["ReadFolder", "dir_path"],
    read_file: ["ReadFile", "file_path"],
    read_many_files: ["ReadManyFiles"],
    replace: [edit, "file_path"],
    run_shell_command: [shell, "command"],
    save_memory: ["SaveMemory"],
    web_fetch: ["WebFetch", "prompt"],
    write_file: [write, "file_path"],
  },
  edits: editTools,
};

/** A call has no id. Equal calls of one turn are taken for one. */
function readCall(payload: JsonRecord): SentCall {
  const call = readToolCall(table, payload);
  const { server_name, tool_name } = asRecord(payload.mcp_context);
  const tool = nameServerTool(server_name, tool_name) ?? call.tool;
  return { ...call, tool, toolUseId: `${call.name}.${call.inputKey}` };
}

/** null if it is not a tool of an MCP server. */
function nameServerTool(server: unknown, tool: unknown): string | null {
  const names = [readId(server), readId(tool)];
  return names.includes(null) ? null : `mcp__${names.join("__")}`;
}

/** A dialog follows 72 to 193 ms later. It names no call: the ask belongs to the running call of that tool. */
function createAsk(details: JsonRecord, message: string): Change {
  const ask = (
    tool: string | null,
    summary: unknown,
    kind: "permission" | "plan" = "permission",
  ): Change => ({
    kind: "ask",
    ask: kind,
    tool,
    inputKey: null,
    summary: toOneLine(asText(summary) || message),
    options: [],
  });
  switch (details.type) {
    case "exec":
    case "sandbox_expansion":
      return ask(shell, details.command);
    case "edit":
      return ask(nameEdit(asText(details.title)), details.filePath);
    case "mcp":
      return ask(nameServerTool(details.serverName, details.toolName), details.toolDisplayName);
    case "info":
      return ask(null, details.prompt);
    case "exit_plan_mode":
      return ask(plan, details.planPath, "plan");
    // Opened by the call already.
    case questionTool:
      return { kind: "no-change" };
    default:
      return ask(null, details.title);
  }
}

/** The title is "Confirm Write: a.txt" or "Confirm Edit: a.txt". */
const nameEdit = (title: string): string => (/^Confirm Write\b/.test(title) ? write : edit);

/** What a tool returned. The details of an edit hold the whole file, before and after it. */
export function stripToolOutput(text: string, from: number, payload: JsonRecord): string {
  const stripped = stripFields(text, from, payload, ["tool_response"]);
  return stripFields(stripped, from, asRecord(payload.details), [
    "fileDiff",
    "originalContent",
    "newContent",
  ]);
}

/** SessionEnd comes three times within half a second on /quit, with different timestamps. */
export const dedupeKey = ({ hook_event_name: name }: JsonRecord): string | null =>
  name === "SessionEnd" ? name : null;

export function readDetails(payload: JsonRecord): EventDetails {
  const tool = readId(payload.tool_name);
  const common = tool === null ? {} : { tool: { name: tool, input: asRecord(payload.tool_input) } };
  switch (payload.hook_event_name) {
    case "BeforeAgent":
      return { prompt: asText(payload.prompt) };
    case "AfterAgent":
      return { message: asText(payload.prompt_response) };
    case "Notification":
      return { isNotification: true, message: asText(payload.message) };
    case "SessionStart":
      return { reason: asText(payload.source) };
    case "SessionEnd":
      return { reason: asText(payload.reason) };
    default:
      return common;
  }
}
