/** What Gemini CLI's transcript says about its session. Its format is internal: every field may be missing or have another type. */
import {
  asCount,
  asRecord,
  asText,
  isRecord,
  type JsonRecord,
  listRecords,
  parseRecord,
  readTime,
} from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { Enrichment, Tokens } from "../../core/session/event.ts";
import { readId } from "../hook-event.ts";
import { toOneLine } from "../one-line.ts";
import { addTokens, type FileUsage, summarizeUsage } from "../watch/usage.ts";

export interface GeminiTranscript {
  /** A response is written again, with the same id, when its tools have ended. */
  readonly responses: Map<string, Tokens>;
  model: string | null;
  contextUsed: number | null;
  /** When the user last left a dialog with No or Esc, or interrupted a turn. null if never. */
  cancelledAt: number | null;
  lastError: { readonly at: number; readonly text: string } | null;
}

export const createTranscript = (): GeminiTranscript => ({
  responses: new Map(),
  model: null,
  contextUsed: null,
  cancelledAt: null,
  lastError: null,
});

export function addTranscriptLine(state: GeminiTranscript, text: string): void {
  // The whole conversation again, several times a turn.
  if (text.startsWith('{"$set"')) return;
  const line = parseRecord(text);
  const at = readTime(line.timestamp);
  if (line.type === "gemini") addResponse(state, line);
  else if (at === null) return;
  else if (line.type === "info" && asText(line.content) === "Request cancelled.") state.cancelledAt = at;
  else if (line.type === "error") state.lastError = { at, text: readError(asText(line.content)) };
}

function addResponse(state: GeminiTranscript, line: JsonRecord): void {
  state.model = readId(line.model) ?? state.model;
  for (const call of listRecords(line.toolCalls)) {
    // A call that Esc ended has an AfterTool hook too, up to 1.3 s after "Request cancelled.".
    const at = call.status === "cancelled" ? readTime(call.timestamp) : null;
    if (at !== null && at > (state.cancelledAt ?? 0)) state.cancelledAt = at;
  }
  const id = readId(line.id);
  // After "Request cancelled." the conversation is written again under new ids, without tokens.
  if (id === null || !isRecord(line.tokens)) return;
  const count = (name: string): number => asCount(asRecord(line.tokens)[name]);
  const cached = Math.min(count("cached"), count("input"));
  if (state.responses.size >= limits.maxUsageMessages && !state.responses.has(id)) return;
  state.responses.set(id, {
    input: count("input") - cached,
    output: count("output") + count("thoughts"),
    cacheRead: cached,
    cacheWrite: 0,
  });
  state.contextUsed = count("total") || null;
}

/** `[API Error: {"error":{"message":"quota exceeded"}}]` → `quota exceeded` */
function readError(content: string): string {
  const message = /"message"\s*:\s*"((?:[^"\\]|\\.){1,400})"/.exec(content)?.[1];
  return toOneLine(message ?? content.replace(/^\[|\]$/g, "")) || "error";
}

export function summarizeTranscript({ responses, model, contextUsed }: GeminiTranscript): Enrichment {
  const usage: FileUsage = { tokens: null, model, contextUsed };
  for (const response of responses.values()) addTokens(usage, response);
  return summarizeUsage(usage);
}
