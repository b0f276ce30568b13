/** Calls of tools in the payloads of hooks: what beckon keeps of them, and the changes that they make. Pure. */
import { asRecord, asText, type JsonRecord } from "../core/json.ts";
import type { Change } from "../core/session/event.ts";
import { hashJson } from "../core/text/json-text.ts";
import type { EventDetails } from "./agent.ts";
import { type EditTools, readEditPaths } from "./edits.ts";
import { findSummary, readId } from "./hook-event.ts";
import { toOneLine } from "./one-line.ts";
import { summarizeQuestions } from "./questions.ts";

/** A tool call, the same in all of its events. */
export interface SentCall {
  /** The tool in the agent's own words. */
  readonly name: string;
  /** The tool as users see it. */
  readonly tool: string;
  /** null if the agent gives its calls no ids. */
  readonly toolUseId: string | null;
  readonly input: JsonRecord;
  readonly inputKey: string;
  readonly summary: string;
  /** The files that it changes. Absent if it changes none. */
  readonly editPaths?: readonly string[];
}

/** What an agent's tools are called. */
export interface ToolTable {
  /** The names under which other agents' tools are shown that do the same, and the field that describes a call best. */
  readonly tools: Readonly<Record<string, readonly [name: string, summary?: string]>>;
  readonly edits: EditTools;
}

/** The call in a payload with Claude Code's field names. Its tool is "" if there is none. */
export function readToolCall({ tools, edits }: ToolTable, payload: JsonRecord): SentCall {
  const name = readId(payload.tool_name) ?? "";
  const [tool, field] = (Object.hasOwn(tools, name) ? tools[name] : undefined) ?? [name];
  const input = asRecord(payload.tool_input);
  return {
    name,
    tool,
    toolUseId: readId(payload.tool_call_id ?? payload.tool_use_id),
    input,
    inputKey: hashJson(input),
    summary: toOneLine(findSummary(input, field)),
    ...readEditPaths(edits, name, input),
  };
}

const pickEdits = ({ editPaths }: SentCall) => (editPaths === undefined ? {} : { editPaths });

export function createToolStart(call: SentCall): Change {
  const { tool, toolUseId, inputKey, summary } = call;
  return { kind: "tool-start", tool, toolUseId, inputKey, summary, skill: null, ...pickEdits(call) };
}

export function createToolEnd(call: SentCall, outcome: "ok" | "failed" | "denied" = "ok"): Change {
  const { tool, toolUseId } = call;
  const edits = outcome === "ok" ? pickEdits(call) : {};
  return { kind: "tool-end", tool, toolUseId, outcome, skill: null, ...edits };
}

const pickId = ({ toolUseId }: SentCall) => (toolUseId === null ? {} : { toolUseId });

/** The call asks the user questions. */
export function createQuestion(call: SentCall): Change {
  const { tool, inputKey, input } = call;
  const asked = summarizeQuestions(input.questions);
  return { kind: "ask", ask: "question", tool, inputKey, ...pickId(call), ...asked };
}

/** For an agent whose questions have no request of their own: the call of this tool asks. */
export const createCallStart = (call: SentCall, questionTool: string): Change =>
  call.name === questionTool ? createQuestion(call) : createToolStart(call);

/** The agent asks whether it may do this. */
export function createPermissionAsk(
  call: SentCall,
  ask: "permission" | "plan" = "permission",
): Change & { kind: "ask" } {
  const { tool, inputKey, summary } = call;
  return { kind: "ask", ask, tool, inputKey, ...pickId(call), summary, options: [] };
}

/** What the events of most agents say besides their change: the call, the prompt, why a session started or ended. */
export const readCommonDetails = ({ tool, input }: SentCall, payload: JsonRecord): EventDetails => ({
  ...(tool === "" ? {} : { tool: { name: tool, input } }),
  prompt: asText(payload.prompt) || undefined,
  reason: asText(payload.reason) || asText(payload.source) || undefined,
});
