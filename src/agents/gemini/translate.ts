/** Translates Gemini CLI's hook events into beckon's own. Nothing else gives them a meaning. */
import { asRecord, asText, type JsonRecord } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { AgentEvent, Change } from "../../core/session/event.ts";
import { hashJson } from "../../core/text/json-text.ts";
import { truncate } from "../../core/text/truncate.ts";
import type { EventDetails, EventStamp, GuardRequest } from "../agent.ts";
import { type EditTools, readEditPaths } from "../edits.ts";
import type { HookMessage } from "../envelope.ts";
import {
  createHookEvent,
  createPrompt,
  createTurnEnd,
  findSummary,
  readEdit,
  readHookRequest,
  readId,
  readPath,
  stripFields,
} from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import { summarizeQuestions } from "../questions.ts";

const questionTool = "ask_user";

/** null if the payload names no session or no event. */
export function translate(hook: HookMessage, stamp: EventStamp): AgentEvent | null {
  const { payload } = hook;
  const [sessionId, name] = [readId(payload.session_id), readId(payload.hook_event_name)];
  if (sessionId === null || name === null) return null;
  const transcriptPath = readPath(payload.transcript_path);
  const subject = { agent: "gemini", sessionId, name, cwd: readPath(payload.cwd), transcriptPath };
  return createHookEvent(hook, stamp, subject, createChange(name, payload));
}

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
      return payload.tool_name === questionTool ? createQuestion(payload) : createToolStart(payload);
    case "AfterTool":
      return {
        kind: "tool-end",
        tool: nameTool(payload),
        toolUseId: identifyCall(payload),
        outcome: "ok",
        skill: null,
      };
    case "Notification":
      return payload.notification_type === "ToolPermission"
        ? createAsk(asRecord(payload.details), asText(payload.message))
        : { kind: "no-change" };
    case "AfterAgent":
      return createTurnEnd({
        lastResponse: truncate(asText(payload.prompt_response).trim(), limits.maxTextLength) || null,
      });
    // PreCompress comes before every request to the model (36 of 36), not only before it compresses.
    default:
      return { kind: "no-change" };
  }
}

/** The names that Gemini CLI shows. */
const toolNames: Readonly<Record<string, string>> = {
  activate_skill: "Skill",
  ask_user: "Ask User",
  exit_plan_mode: "Plan",
  glob: "FindFiles",
  google_web_search: "GoogleSearch",
  grep_search: "SearchText",
  list_directory: "ReadFolder",
  read_file: "ReadFile",
  read_many_files: "ReadManyFiles",
  replace: "Edit",
  run_shell_command: "Shell",
  save_memory: "SaveMemory",
  web_fetch: "WebFetch",
  write_file: "WriteFile",
};

function nameTool({ tool_name, mcp_context }: JsonRecord): string {
  const { server_name, tool_name: serversName } = asRecord(mcp_context);
  if (readId(server_name) !== null && readId(serversName) !== null)
    return `mcp__${server_name}__${serversName}`;
  const name = readId(tool_name) ?? "";
  return Object.hasOwn(toolNames, name) ? (toolNames[name] ?? name) : name;
}

/** A call has no id. Equal calls of one turn are taken for one. */
const identifyCall = ({ tool_name, tool_input }: JsonRecord): string =>
  `${readId(tool_name) ?? ""}.${hashJson(asRecord(tool_input))}`;

/** The field of a tool's input that describes the call best. */
const summaryFields: Readonly<Record<string, string>> = {
  activate_skill: "name",
  glob: "pattern",
  google_web_search: "query",
  grep_search: "pattern",
  list_directory: "dir_path",
  read_file: "file_path",
  replace: "file_path",
  run_shell_command: "command",
  web_fetch: "prompt",
  write_file: "file_path",
};

const findSummaryField = (tool: string): string | undefined =>
  Object.hasOwn(summaryFields, tool) ? summaryFields[tool] : undefined;

function createToolStart(payload: JsonRecord): Change {
  const input = asRecord(payload.tool_input);
  return {
    kind: "tool-start",
    tool: nameTool(payload),
    toolUseId: identifyCall(payload),
    inputKey: hashJson(input),
    summary: toOneLine(findSummary(input, findSummaryField(asText(payload.tool_name)))),
    skill: null,
    ...readEditPaths(editTools, asText(payload.tool_name), input),
  };
}

/** The notification of a question says nothing about it. Its dialog comes 70 to 200 ms after the call. */
function createQuestion(payload: JsonRecord): Change {
  const input = asRecord(payload.tool_input);
  return {
    kind: "ask",
    ask: "question",
    tool: nameTool(payload),
    toolUseId: identifyCall(payload),
    inputKey: hashJson(input),
    ...summarizeQuestions(input.questions),
  };
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
      return ask(toolNames.run_shell_command ?? null, details.command);
    case "edit":
      return ask(nameEdit(asText(details.title)), details.filePath);
    case "mcp": {
      const [server, tool] = [readId(details.serverName), readId(details.toolName)];
      return ask(
        server !== null && tool !== null ? `mcp__${server}__${tool}` : null,
        details.toolDisplayName,
      );
    }
    case "info":
      return ask(null, details.prompt);
    case "exit_plan_mode":
      return ask(toolNames.exit_plan_mode ?? null, details.planPath, "plan");
    // Opened by the call already.
    case questionTool:
      return { kind: "no-change" };
    default:
      return ask(null, details.title);
  }
}

/** The title is "Confirm Write: a.txt" or "Confirm Edit: a.txt". */
const nameEdit = (title: string): string | null =>
  (/^Confirm Write\b/.test(title) ? toolNames.write_file : toolNames.replace) ?? null;

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
