/** Translates Kimi Code's hook events into beckon's own. Its names of tools are Claude Code's. */
import { asRecord, asText, type JsonRecord, listRecords } from "../../core/json.ts";
import type { AgentEvent, Change } from "../../core/session/event.ts";
import type { EventDetails, EventStamp } from "../agent.ts";
import type { HookMessage } from "../envelope.ts";
import { createHookChange } from "../hook-changes.ts";
import { createPrompt, readId, translateHook } from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import {
  createCallStart,
  createPermissionAsk,
  readCommonDetails,
  readToolCall,
  type ToolTable,
} from "../tool-call.ts";

export const translate = (hook: HookMessage, stamp: EventStamp): AgentEvent | null =>
  translateHook(hook, stamp, "kimi", createChange);

function createChange(name: string, payload: JsonRecord): Change {
  const readCall = () => readToolCall(table, payload);
  switch (name) {
    case "UserPromptSubmit":
      return createPrompt(readPrompt(payload.prompt));
    case "PreToolUse":
      return createCallStart(readCall(), questionTool);
    case "PermissionRequest":
      return createAsk(payload);
    case "PermissionResult": {
      const outcome = readDecision(payload) === "approved" ? "allowed" : "denied";
      return { kind: "ask-ended", inputKey: readId(payload.id), outcome };
    }
    case "Interrupt":
      return { kind: "interrupted" };
    // The Stop of a subagent looks like that of the turn: the watcher tells them apart.
    case "Stop":
      return { kind: "no-change" };
    default:
      return createHookChange(name, payload, readCall);
  }
}

const readDecision = ({ decision, result }: JsonRecord): string =>
  asText(decision) || asText(asRecord(result).decision) || asText(result);

const readPrompt = (prompt: unknown): string =>
  typeof prompt === "string"
    ? prompt
    : listRecords(prompt)
        .map(({ text }) => asText(text))
        .join("\n");

const questionTool = "AskUserQuestion";
/** Kimi Code waits for a hook before each call, so only these have one: the call asks, or what follows it is a subagent's. */
export const hookedTools = [questionTool, "Agent", "AgentSwarm"];
export const hasHook = (tool: string): boolean => hookedTools.includes(tool);
const planTool = "ExitPlanMode";

const table: ToolTable = {
  tools: {
    Agent: ["Agent", "description"],
    Bash: ["Bash", "command"],
    Edit: ["Edit", "path"],
    Read: ["Read", "path"],
    Write: ["Write", "path"],
  },
  edits: { Edit: "path", Write: "path" },
};

/** The dialog is open 10 to 80 ms before or after it. `id` is that of its PermissionResult, which comes for No and Esc too. */
function createAsk(payload: JsonRecord): Change {
  const call = readToolCall(table, payload);
  const summary = call.summary || toOneLine(asText(payload.action));
  const ask = createPermissionAsk({ ...call, summary }, call.name === planTool ? "plan" : "permission");
  return { ...ask, inputKey: readId(payload.id) };
}

export const readDetails = (payload: JsonRecord): EventDetails => ({
  ...readCommonDetails(readToolCall(table, payload), payload),
  prompt: readPrompt(payload.prompt) || undefined,
  error: asText(payload.error_message) || undefined,
});
