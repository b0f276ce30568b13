/** Translates what opencode's plugin reports into beckon's own events. Nothing else gives it a meaning. */
import { asCount, asRecord, asText, type JsonRecord, listRecords } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type {
  AgentEvent,
  AskEndedOutcome,
  Change,
  Enrichment,
  Tokens,
  Usage,
} from "../../core/session/event.ts";
import { truncate } from "../../core/text/truncate.ts";
import type { EventDetails, EventStamp, GuardRequest } from "../agent.ts";
import { readEditPaths } from "../edits.ts";
import type { HookMessage } from "../envelope.ts";
import { createHookEvent, createPrompt, createTurnEnd, readEdit } from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import { summarizeQuestions } from "../questions.ts";
import { type PluginPayload, parsePayload } from "./payload.ts";
import { editTools, nameTool, summarizeInput, summarizePermission } from "./tools.ts";

/** null if the payload names no session or no event. */
export function translate(hook: HookMessage, stamp: EventStamp): AgentEvent | null {
  const payload = parsePayload(hook.payload);
  if (!payload) return null;
  const { session: sessionId, subagent: agentId, subagentType: agentType, type: name, cwd } = payload;
  const subject = { agent: hook.provider, sessionId, agentId, agentType, name, cwd };
  return createHookEvent(hook, stamp, subject, createChange(payload));
}

export const explainRefusal = (): string => "the payload needs a type and a session";

/** Each call starts once and ends once, and each request is asked and ended once. */
export function dedupeKey({ type, call, request }: JsonRecord): string | null {
  const id = typeof request === "string" ? request : typeof call === "string" ? call : null;
  return typeof type === "string" && id !== null ? `${type}.${id}`.slice(0, limits.maxIdLength) : null;
}

export function readDetails(payload: JsonRecord): EventDetails {
  const { tool, input, prompt, error } = payload;
  return {
    ...(typeof tool === "string" ? { tool: { name: nameTool(tool), input: asRecord(input) } } : {}),
    ...(typeof prompt === "string" ? { prompt } : {}),
    ...(typeof error === "string" ? { error } : {}),
  };
}

/** The plugin asks before a tool runs. null if the payload names no event. */
export function readGuardRequest(payload: JsonRecord): GuardRequest | null {
  const event = parsePayload(payload);
  if (!event) return null;
  const { type, session, cwd, fields } = event;
  const tool = type === "tool.started" ? asText(fields.tool) : "";
  const edit = readEdit(editTools, tool, asRecord(fields.input));
  return {
    sessionId: session,
    cwd,
    isStart: type === "session.created",
    edit: edit && { ...edit, tool: nameTool(tool) },
  };
}

function createChange(payload: PluginPayload): Change {
  const { type, fields, subagent, subagentType, request, call } = payload;
  switch (type) {
    case "session.created":
      return subagent === null
        ? { kind: "session-start", source: "startup", model: asText(fields.model) || null }
        : { kind: "child-start", type: subagentType ?? "" };
    case "session.deleted":
      return { kind: "session-end", reason: "deleted" };
    // The terminal shows another session now, as after /clear in other agents.
    case "session.left":
      return { kind: "session-end", reason: "clear" };
    case "prompt":
      return createPrompt(fields.prompt);
    case "session.busy":
      return subagent === null ? { kind: "turn-start" } : { kind: "child-start", type: subagentType ?? "" };
    case "session.idle":
      return subagent === null ? readTurnEnd(fields) : { kind: "child-end", transcriptPath: null };
    case "tool.started": {
      const tool = asText(fields.tool);
      const summary = summarizeInput(asRecord(fields.input));
      return {
        kind: "tool-start",
        tool: nameTool(tool),
        toolUseId: call,
        inputKey: call ?? "",
        summary,
        skill: null,
        ...readEditPaths(editTools, tool, asRecord(fields.input)),
      };
    }
    case "tool.ended":
      return {
        kind: "tool-end",
        tool: nameTool(asText(fields.tool)),
        toolUseId: call,
        outcome: "ok",
        skill: null,
      };
    case "permission.asked":
      return {
        kind: "ask",
        ask: "permission",
        tool: nameTool(asText(fields.permission)),
        inputKey: request,
        ...(call === null ? {} : { toolUseId: call }),
        summary: summarizePermission(fields),
        options: [],
      };
    case "question.asked":
      return createQuestion(payload);
    case "permission.replied":
    case "question.replied":
    case "question.rejected":
      return { kind: "ask-ended", inputKey: request, outcome: readOutcome(type, fields.reply) };
    case "session.updated":
      return { kind: "enriched", with: readEnrichment(payload) };
    default:
      return { kind: "no-change" };
  }
}

function readTurnEnd({ error, aborted, response }: JsonRecord): Change {
  if (aborted === true) return { kind: "interrupted" };
  return createTurnEnd({
    error: typeof error === "string" ? toOneLine(error) || "error" : null,
    lastResponse: truncate(asText(response), limits.maxTextLength) || null,
    // A subagent runs inside of a tool call of its parent, so none is left once the parent is idle.
    background: [],
  });
}

function createQuestion({ fields, request, call }: PluginPayload): Change {
  return {
    kind: "ask",
    ask: "question",
    tool: nameTool("question"),
    inputKey: request,
    ...(call === null ? {} : { toolUseId: call }),
    ...summarizeQuestions(fields.questions),
  };
}

function readOutcome(type: string, reply: unknown): AskEndedOutcome {
  if (type !== "permission.replied") return type === "question.replied" ? "replied" : "denied";
  return reply === "reject" ? "denied" : "allowed";
}

function readEnrichment({ session, fields }: PluginPayload): Enrichment {
  const rows = listRecords(fields.sessions);
  const own = rows.find(({ id }) => id === session) ?? {};
  const title = toOneLine(asText(fields.title));
  return {
    // Until the first turn is over, opencode names a session by its time.
    title: title === "" || /^(?:New|Child) session - /.test(title) ? null : title,
    model: asText(own.model).slice(0, limits.maxIdLength) || null,
    usage: sumUsage(rows.map(readUsage)),
    context: readContext(own.context),
    children: rows
      .filter(({ id }) => typeof id === "string" && id !== session)
      .slice(0, limits.maxChildren)
      .map((row) => ({
        agentId: asText(row.id),
        model: asText(row.model).slice(0, limits.maxIdLength) || null,
        usage: readUsage(row),
        context: readContext(row.context),
        transcriptPath: null,
      })),
  };
}

const readContext = (used: unknown) => (asCount(used) > 0 ? { used: asCount(used), window: null } : null);

function readUsage({ tokens, cost }: JsonRecord): Usage {
  const { input, output, reasoning, cache } = asRecord(tokens);
  const { read, write } = asRecord(cache);
  return {
    tokens: {
      input: asCount(input),
      output: asCount(output) + asCount(reasoning),
      cacheRead: asCount(read),
      cacheWrite: asCount(write),
    },
    // A subscription and a model without a price cost 0.
    costMicros: typeof cost === "number" && cost > 0 && cost < 1e6 ? Math.round(cost * 1_000_000) : null,
  };
}

/** null if nothing was used yet. */
function sumUsage(parts: readonly Usage[]): Usage | null {
  const sum = (count: (tokens: Tokens) => number) =>
    parts.reduce((all, { tokens }) => all + count(tokens), 0);
  const tokens = {
    input: sum(({ input }) => input),
    output: sum(({ output }) => output),
    cacheRead: sum(({ cacheRead }) => cacheRead),
    cacheWrite: sum(({ cacheWrite }) => cacheWrite),
  };
  const used = parts.filter(({ tokens: { input, output } }) => input + output > 0);
  if (used.length === 0) return null;
  const isPriced = used.every(({ costMicros }) => costMicros !== null);
  const costMicros = isPriced ? used.reduce((all, { costMicros: cost }) => all + (cost ?? 0), 0) : null;
  return { tokens, costMicros };
}
