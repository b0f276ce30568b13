/**
 * Codex's rollout file, row by row: what its hooks do not report. A turn that failed sends no hook; who decides about
 * approvals, Plan mode and `codex exec` are in no payload; tokens and quotas are only here.
 */
import { forgetOldest } from "../../core/forget-oldest.ts";
import {
  asRecord,
  asText,
  isRecord,
  type JsonRecord,
  parseRecord,
  readText,
  readTime,
} from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { Question } from "../../core/session/ask-details.ts";
import type { ContextUse, QuotaUse, RateLimits, Usage } from "../../core/session/event.ts";
import { toOneLine } from "../one-line.ts";
import { findHeredocPatch } from "../patch.ts";
import { readQuestions } from "../questions.ts";
import { applyPatch, askUser } from "./payload.ts";
import { readResponse } from "./translate.ts";

/** What the rows up to now say about the session. */
export interface RolloutState {
  /** `codex exec`: nobody answers. null if unknown. */
  isExec: boolean | null;
  /** The last turn that started. null before the first. */
  turn: RolloutTurn | null;
  /** Who decides about approvals: the user, or a model in their place (`--approve-for-me`). */
  approvals: "user" | "model";
  model: string | null;
  gitBranch: string | null;
  usage: Usage | null;
  context: ContextUse | null;
  rateLimits: RateLimits | null;
  /** The last patches and questions, by the id of their call. Neither is in the payload of the request about it. */
  readonly calls: Map<string, RolloutCall>;
}

export interface RolloutCall {
  /** The text of the patch, as the model wrote it. */
  readonly patch: string | null;
  /** The folder that the call names for the patch; null if it is the session's. */
  readonly folder: string | null;
  readonly questions: readonly Question[];
}

export interface RolloutTurn {
  readonly id: string;
  readonly isPlanMode: boolean;
  /** The turn proposes a plan: "Implement this plan?" is shown at its end. */
  plan: string | null;
}

/** Something that happened. `at` is a wall time, null if unknown. */
export type RolloutSign =
  | {
      readonly kind: "turn-ended";
      readonly turnId: string;
      readonly error: string | null;
      readonly lastResponse: string | null;
      readonly at: number | null;
    }
  | { readonly kind: "turn-aborted"; readonly turnId: string; readonly at: number | null }
  | { readonly kind: "call-ended"; readonly callId: string; readonly at: number | null };

export function createRolloutState(): RolloutState {
  return {
    isExec: null,
    turn: null,
    approvals: "user",
    model: null,
    gitBranch: null,
    usage: null,
    context: null,
    rateLimits: null,
    calls: new Map(),
  };
}

/** Rows of other types are not parsed: a row can be a whole file that was read. */
const relevantRow =
  /"type":"(?:session_meta|turn_context|event_msg|(?:function|custom_tool)_call(?:_output)?)"/;
const headLength = 400;
const maxCalls = 8;

/** Updates the state. Returns what happened, null if the row says nothing of that kind. */
export function addRolloutRow(state: RolloutState, row: string): RolloutSign | null {
  if (!relevantRow.test(row.slice(0, headLength))) return null;
  const { type, payload, timestamp } = parseRecord(row);
  if (!isRecord(payload)) return null;
  const at = readTime(timestamp);
  switch (type) {
    case "session_meta":
      state.isExec = payload.source === "exec";
      state.gitBranch = readText(asRecord(payload.git).branch, limits.maxIdLength);
      return null;
    case "turn_context":
      state.approvals = payload.approvals_reviewer === "auto_review" ? "model" : "user";
      state.model = readText(payload.model, limits.maxIdLength) ?? state.model;
      return null;
    case "response_item":
      return /_output$/.test(String(payload.type)) ? readCallEnd(payload, at) : addCall(state, payload);
    case "event_msg":
      return addEvent(state, payload, at);
    default:
      return null;
  }
}

/** The name of a session in a row of session_index.jsonl. null if the row names none. */
export function readIndexRow(row: string): { readonly sessionId: string; readonly title: string } | null {
  const { id, thread_name } = parseRecord(row);
  const sessionId = readText(id, limits.maxIdLength);
  const title = toOneLine(asText(thread_name));
  return sessionId === null || title === "" ? null : { sessionId, title };
}

function readCallEnd({ call_id }: JsonRecord, at: number | null): RolloutSign | null {
  const callId = readText(call_id, limits.maxIdLength);
  return callId === null ? null : { kind: "call-ended", callId, at };
}

function addCall({ calls }: RolloutState, { call_id, name, arguments: args, input }: JsonRecord): null {
  const callId = readText(call_id, limits.maxIdLength);
  const text = typeof input === "string" ? input : args;
  if (callId === null || typeof text !== "string") return null;
  const { workdir = null, ...fields } = parseRecord(text);
  const patch = name === applyPatch ? text : findShellPatch(fields);
  const questions = name === askUser ? readQuestions(fields.questions).questions : [];
  if (patch === null && questions.length === 0) return null;
  calls.set(callId, { patch, folder: workdir === null ? null : String(workdir), questions });
  forgetOldest(calls, maxCalls);
  return null;
}

const findShellPatch = ({ cmd }: JsonRecord): string | null =>
  typeof cmd === "string" ? findHeredocPatch(cmd) : null;

function addEvent(state: RolloutState, payload: JsonRecord, at: number | null): RolloutSign | null {
  const turnId = readText(payload.turn_id, limits.maxIdLength);
  switch (payload.type) {
    case "task_started":
      if (turnId !== null)
        state.turn = { id: turnId, isPlanMode: payload.collaboration_mode_kind === "plan", plan: null };
      return null;
    case "item_completed": {
      const item = asRecord(payload.item);
      if (item.type === "Plan" && state.turn !== null && state.turn.id === turnId)
        state.turn.plan = asText(item.text);
      return null;
    }
    case "token_count":
      addTokens(state, payload);
      return null;
    case "task_complete":
      return turnId === null ? null : { ...readTurnEnd(payload), turnId, at };
    case "turn_aborted":
      return turnId === null ? null : { kind: "turn-aborted", turnId, at };
    default:
      return null;
  }
}

function readTurnEnd({ error, last_agent_message }: JsonRecord) {
  return {
    kind: "turn-ended" as const,
    error: isRecord(error) ? toOneLine(findErrorText(error.message)) || "error" : null,
    lastResponse: readResponse(last_agent_message),
  };
}

/** The API's own message is JSON in the text: `{"error":{"message":"…"}}`. */
function findErrorText(message: unknown): string {
  const text = asText(message);
  return asText(asRecord(parseRecord(text).error).message) || text;
}

function addTokens(state: RolloutState, { info, rate_limits }: JsonRecord): void {
  const { total_token_usage, last_token_usage, model_context_window } = asRecord(info);
  if (isRecord(total_token_usage)) {
    const cached = readCount(total_token_usage.cached_input_tokens);
    const cacheWrite = readCount(total_token_usage.cache_write_input_tokens);
    state.usage = {
      tokens: {
        // The count of input tokens includes those from and to the cache.
        input: Math.max(0, readCount(total_token_usage.input_tokens) - cached - cacheWrite),
        output: readCount(total_token_usage.output_tokens),
        cacheRead: cached,
        cacheWrite,
      },
      costMicros: null,
    };
  }
  if (isRecord(last_token_usage)) {
    const window = readCount(model_context_window);
    state.context = { used: readCount(last_token_usage.total_tokens), window: window === 0 ? null : window };
  }
  const { primary, secondary } = asRecord(rate_limits);
  const quotas = [readQuota(primary), readQuota(secondary)].filter((quota) => quota !== null);
  if (quotas.length > 0) {
    state.rateLimits = {
      fiveHour: quotas.find(({ minutes }) => minutes <= dayMinutes)?.use ?? null,
      sevenDay: quotas.find(({ minutes }) => minutes > dayMinutes)?.use ?? null,
    };
  }
}

const dayMinutes = 24 * 60;

function readQuota(limit: unknown): { readonly minutes: number; readonly use: QuotaUse } | null {
  if (!isRecord(limit) || typeof limit.used_percent !== "number") return null;
  const resetsAt = readCount(limit.resets_at);
  return {
    minutes: readCount(limit.window_minutes),
    use: { usedPercent: limit.used_percent, resetsAt: resetsAt === 0 ? null : resetsAt * 1_000 },
  };
}

const readCount = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
