/**
 * What Copilot CLI's own log of a session (events.jsonl) says. It is written 20 to 530 ms after the event, and reports what no
 * hook does: that a dialog was answered, that the user pressed Esc, that the model's API failed. Its format is internal: every
 * field may be missing or have another type.
 */
import { asCount, asRecord, asText, type JsonRecord, parseRecord, readTime } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { AskEndedOutcome, Change, ContextUse, Enrichment } from "../../core/session/event.ts";
import { truncate } from "../../core/text/truncate.ts";
import { createTurnEnd, readId } from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import { describeQuestion, nameRequest, nameTool, summarizeCall } from "./names.ts";

/** Something that happened, as it is to be dispatched. */
export interface LogEvent {
  readonly at: number;
  readonly agentId: string | null;
  /** The subagent's, if the line has them. */
  readonly agentType?: string | null;
  readonly agentName?: string | null;
  readonly change: Change;
}

export interface EventLog {
  /** What was read and not taken yet. */
  events: LogEvent[];
  /** Requests that nobody has answered yet, by their id. A question has the id of its call. */
  readonly pending: Map<string, { readonly agentId: string | null }>;
  readonly tokens: { input: number; output: number; cacheRead: number; cacheWrite: number };
  hasUsage: boolean;
  model: string | null;
  branch: string | null;
  context: ContextUse | null;
  lastResponse: string | null;
}

export const createEventLog = (): EventLog => ({
  events: [],
  pending: new Map(),
  tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  hasUsage: false,
  model: null,
  branch: null,
  context: null,
  lastResponse: null,
});

/** Tools whose call is a question to the user. */
const askingTools: Readonly<Record<string, "question" | "plan">> = {
  ask_user: "question",
  exit_plan_mode: "plan",
};

export function addLogLine(log: EventLog, text: string): void {
  if (!usefulLine.test(text)) return;
  const line = parseRecord(text);
  const data = asRecord(line.data);
  const agentId = readId(line.agentId);
  const at = readTime(line.timestamp);
  const add = (change: Change): void => {
    if (at !== null) log.events.push({ at, agentId, change });
  };
  switch (line.type) {
    case "session.start":
    case "session.resume":
      log.model = readId(data.selectedModel) ?? log.model;
      log.branch = readId(asRecord(data.context).branch) ?? log.branch;
      break;
    case "session.model_change":
      if (agentId === null) log.model = readId(data.newModel) ?? log.model;
      break;
    case "session.usage_record":
      addUsage(log, asRecord(data.usage), agentId);
      break;
    case "assistant.message":
      if (agentId === null && asText(data.content) !== "")
        log.lastResponse = truncate(asText(data.content).trim(), limits.maxTextLength) || null;
      break;
    case "tool.execution_start":
      startTool(log, data, agentId, add);
      break;
    case "tool.execution_complete":
      endTool(log, data, add);
      break;
    case "permission.requested":
      openRequest(log, data, agentId, add);
      break;
    case "permission.completed":
      endRequest(log, readId(data.requestId), readOutcome(asText(asRecord(data.result).kind)), add);
      break;
    case "subagent.started": {
      const [agentType, agentName] = [readId(data.agentType), readId(data.agentDisplayName)];
      const change: Change = { kind: "child-start", type: agentType ?? "" };
      if (agentId !== null && at !== null) log.events.push({ at, agentId, agentType, agentName, change });
      break;
    }
    case "subagent.completed":
    case "subagent.failed":
      add({ kind: "child-end", transcriptPath: null });
      break;
    case "abort":
      log.pending.clear();
      add({ kind: "interrupted" });
      break;
    case "session.error":
      add(createTurnEnd({ error: toOneLine(asText(data.message)) || "error" }));
      break;
  }
}

/** Most lines are of no use here, and some are very long: prompts, outputs of tools, whole conversations. */
const usefulLine =
  /^\{"type":"(?:session\.(?:start|resume|model_change|usage_record|error)|assistant\.message|tool\.execution_(?:start|complete)|permission\.(?:requested|completed)|subagent\.(?:started|completed|failed)|abort)"/;

type Add = (change: Change) => void;

function startTool(log: EventLog, data: JsonRecord, agentId: string | null, add: Add): void {
  const [id, tool, input] = [readId(data.toolCallId), readId(data.toolName) ?? "", asRecord(data.arguments)];
  const ask = Object.hasOwn(askingTools, tool) ? askingTools[tool] : undefined;
  if (ask !== undefined && id !== null) {
    remember(log, id, agentId);
    const asked =
      ask === "question" ? describeQuestion(input) : { summary: summarizeCall(tool, input), options: [] };
    add({ kind: "ask", ask, tool: nameTool(tool), toolUseId: id, inputKey: id, ...asked });
  } else {
    const summary = summarizeCall(tool, input);
    const call = { tool: nameTool(tool), toolUseId: id, inputKey: id ?? "", summary };
    add({ kind: "tool-start", ...call, skill: null });
  }
}

function endTool(log: EventLog, data: JsonRecord, add: Add): void {
  const id = readId(data.toolCallId);
  if (id !== null && log.pending.has(id)) {
    endRequest(log, id, "replied", add);
  } else {
    const outcome = data.success === false ? "failed" : "ok";
    add({ kind: "tool-end", tool: "", toolUseId: id, outcome, skill: null });
    // A form of an MCP server is not in the log: only a notification opened its ask.
    if (log.pending.size === 0) add({ kind: "ask-ended", inputKey: null, outcome: null });
  }
}

function openRequest(log: EventLog, data: JsonRecord, agentId: string | null, add: Add): void {
  const requestId = readId(data.requestId);
  const request = asRecord(data.permissionRequest);
  if (requestId === null || data.resolvedByHook === true) return;
  remember(log, requestId, agentId);
  const toolUseId = readId(request.toolCallId);
  add({
    kind: "ask",
    ask: "permission",
    ...(toolUseId === null ? {} : { toolUseId }),
    inputKey: requestId,
    options: [],
    ...nameRequest(request),
  });
}

function remember(log: EventLog, id: string, agentId: string | null): void {
  if (log.pending.size < limits.maxOpenAsks) log.pending.set(id, { agentId });
}

/** The last request ends all asks: also the one that only the notification opened. */
function endRequest(log: EventLog, id: string | null, outcome: AskEndedOutcome, add: Add): void {
  if (id === null || !log.pending.delete(id)) return;
  add({ kind: "ask-ended", inputKey: id, outcome });
  if (log.pending.size === 0) add({ kind: "ask-ended", inputKey: null, outcome });
}

function readOutcome(kind: string): AskEndedOutcome {
  if (kind.startsWith("approved")) return "allowed";
  return kind.startsWith("denied") ? "denied" : null;
}

function addUsage(log: EventLog, usage: JsonRecord, agentId: string | null): void {
  const count = (name: string): number => asCount(usage[name]);
  // As in the APIs that it calls, inputTokens contains what was cached.
  const [cacheRead, cacheWrite] = [count("cacheReadTokens"), count("cacheWriteTokens")];
  log.hasUsage = true;
  log.tokens.input += Math.max(0, count("inputTokens") - cacheRead - cacheWrite);
  log.tokens.output += count("outputTokens");
  log.tokens.cacheRead += cacheRead;
  log.tokens.cacheWrite += cacheWrite;
  if (agentId !== null) return;
  log.model = readId(usage.model) ?? log.model;
  const used = count("inputTokens") + count("outputTokens");
  log.context = { used, window: count("maxPromptTokens") || null };
}

export function summarizeLog({
  tokens,
  hasUsage,
  model,
  branch,
  context,
  lastResponse,
}: EventLog): Enrichment {
  return {
    ...(model === null ? {} : { model }),
    ...(branch === null ? {} : { gitBranch: branch }),
    ...(hasUsage ? { usage: { tokens: { ...tokens }, costMicros: null } } : {}),
    ...(context === null ? {} : { context }),
    ...(lastResponse === null ? {} : { lastResponse }),
  };
}
