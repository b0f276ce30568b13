/**
 * Translates Grok Build's hook events into beckon's own. Nothing else gives them a meaning. Its payloads have most fields twice, with
 * Grok's names and with Claude Code's.
 */
import { asRecord, asText, type JsonRecord } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { AgentEvent, Change } from "../../core/session/event.ts";
import { hashJson } from "../../core/text/json-text.ts";
import { truncate } from "../../core/text/truncate.ts";
import type { EventDetails, EventStamp } from "../agent.ts";
import { type EditTools, readEditPaths } from "../edits.ts";
import type { HookMessage } from "../envelope.ts";
import {
  createHookEvent,
  createPrompt,
  createTurnEnd,
  findSummary,
  readId,
  readPath,
} from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import { summarizeQuestions } from "../questions.ts";

/** null if the payload names no session or no event. */
export function translate(hook: HookMessage, stamp: EventStamp): AgentEvent | null {
  const { payload } = hook;
  const [sessionId, name] = [readId(payload.session_id), readId(payload.hook_event_name)];
  if (sessionId === null || name === null) return null;
  const subject = {
    agent: "grok",
    sessionId,
    name,
    cwd: readPath(payload.cwd),
    transcriptPath: readPath(payload.transcript_path),
    permissionMode: readId(payload.permission_mode),
  };
  return createHookEvent(hook, stamp, subject, createChange(name, payload));
}

function createChange(name: string, payload: JsonRecord): Change {
  switch (name) {
    case "SessionStart":
      return { kind: "session-start", source: readId(payload.source) ?? "startup", model: null };
    case "SessionEnd":
      return { kind: "session-end", reason: readId(payload.reason) };
    case "UserPromptSubmit":
      return createPrompt(payload.prompt);
    case "PreToolUse":
      return createToolStart(payload);
    case "PostToolUse":
    case "PostToolUseFailure":
    case "PermissionDenied":
      return createToolEnd(name, payload);
    case "Notification":
      return createAsk(payload);
    case "Stop":
      // /exit sends one more, after SessionEnd.
      if (payload.reason === "shutdown") return { kind: "no-change" };
      return createTurnEnd({
        lastResponse: truncate(asText(payload.lastAssistantMessage).trim(), limits.maxTextLength) || null,
      });
    // No in a dialog, Ctrl-C in a dialog or in a turn.
    case "StopCancelled":
      return { kind: "interrupted" };
    case "StopFailure":
      return createTurnEnd({
        error: toOneLine(asText(payload.errorDetails) || asText(payload.error)) || "error",
      });
    default:
      return { kind: "no-change" };
  }
}

const questionTool = "ask_user_question";

/** The names under which other agents' tools are shown that do the same, and the field that describes a call best. */
const tools: Readonly<Record<string, readonly [name: string, summary?: string]>> = {
  run_terminal_command: ["Bash", "command"],
  spawn_subagent: ["Agent", "description"],
  read_file: ["Read", "target_file"],
  search_replace: ["Edit", "file_path"],
  web_search: ["WebSearch", "query"],
  write: ["Write", "file_path"],
};

const editTools: EditTools = { search_replace: "file_path", write: "file_path" };

function readCall({ tool_name, tool_input, tool_use_id }: JsonRecord) {
  const name = readId(tool_name) ?? "";
  const [tool, field] = (Object.hasOwn(tools, name) ? tools[name] : undefined) ?? [name];
  const input = asRecord(tool_input);
  const summary = toOneLine(findSummary(input, field));
  return { name, tool, toolUseId: readId(tool_use_id), input, inputKey: hashJson(input), summary };
}

/** The notification of a question says nothing about it, and follows its call at once. */
function createToolStart(payload: JsonRecord): Change {
  const { name, tool, toolUseId, input, inputKey, summary } = readCall(payload);
  if (name === questionTool) {
    const call = toolUseId === null ? {} : { toolUseId };
    return { kind: "ask", ask: "question", tool, inputKey, ...call, ...summarizeQuestions(input.questions) };
  }
  const call = { kind: "tool-start", tool, toolUseId, inputKey, summary, skill: null } as const;
  return { ...call, ...readEditPaths(editTools, name, input) };
}

function createToolEnd(event: string, payload: JsonRecord): Change {
  const { name, tool, toolUseId, input } = readCall(payload);
  const outcome = event === "PermissionDenied" ? "denied" : event === "PostToolUse" ? "ok" : "failed";
  const edits = outcome === "ok" ? readEditPaths(editTools, name, input) : {};
  return { kind: "tool-end", tool, toolUseId, outcome, skill: null, ...edits };
}

/** It names no call: the ask belongs to the call that runs. */
function createAsk({ notificationType, message }: JsonRecord): Change {
  if (notificationType !== "permission_prompt") return { kind: "no-change" };
  // What it says is the same for every tool: the call's own text is better.
  const isGeneric = message === "Tool permission requested";
  const summary = isGeneric ? "" : toOneLine(asText(message));
  return { kind: "ask", ask: "permission", tool: null, inputKey: null, summary, options: [] };
}

export function readDetails(payload: JsonRecord): EventDetails {
  const { tool, input } = readCall(payload);
  return {
    ...(tool === "" ? {} : { tool: { name: tool, input } }),
    prompt: asText(payload.prompt) || undefined,
    message: asText(payload.lastAssistantMessage) || asText(payload.message) || undefined,
    error: asText(payload.errorDetails) || undefined,
    reason: asText(payload.reason) || asText(payload.source) || undefined,
    isNotification: payload.hook_event_name === "Notification" || undefined,
  };
}
