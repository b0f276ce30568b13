/**
 * What Claude Code's transcript says about its session. It lags behind the hooks, and its format is internal to the CLI:
 * every field may be missing or have another type.
 */
import {
  asRecord,
  isRecord,
  type JsonRecord,
  listRecords,
  parseRecordOrNull,
  readText,
  readTime,
} from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { ContextUse } from "../../core/session/event.ts";
import { takeStart } from "../../core/text/truncate.ts";
import { toOneLine } from "../one-line.ts";
import { findContextWindow } from "./prices.ts";
import { countContext, type TranscriptOwner, type UsageBook, type UsageLedger } from "./usage.ts";

/** null if unknown. */
export interface TranscriptFacts {
  readonly model: string | null;
  readonly context: ContextUse | null;
  readonly turnCount: number;
  readonly gitBranch: string | null;
  readonly title: string | null;
  readonly lastResponse: string | null;
  /** When the user interrupted the last turn. null if they did not, or another turn has started since. */
  readonly interruptedAt: number | null;
}

/** What has been read so far. addTranscriptRow changes it in place: a copy per row would cost more than the reading. */
export interface TranscriptState {
  readonly owner: TranscriptOwner;
  /** All rows of a subagent's transcript are sidechain rows. In the main one, older CLIs mix them with the others. */
  readonly isSubagent: boolean;
  readonly book: UsageBook;
  readonly ledger: UsageLedger;
  model: string | null;
  context: ContextUse | null;
  gitBranch: string | null;
  readonly titles: Partial<Record<TitleRow, string | null>>;
  readonly turnIds: Set<string>;
  turnCount: number;
  response: AssistantResponse | null;
  interruptedAt: number | null;
}

interface AssistantResponse {
  readonly messageId: string | null;
  readonly texts: readonly string[];
}

type TitleRow = keyof typeof titleFields;

/** The best first. Not `last-prompt`: it was measured to be some turns old. */
const titleFields = {
  "custom-title": "customTitle",
  "ai-title": "aiTitle",
  summary: "summary",
} as const;
const titleRows = Object.keys(titleFields) as readonly TitleRow[];

export interface TranscriptKind extends TranscriptOwner {
  readonly isSubagent: boolean;
}

export function createTranscriptState(book: UsageBook, kind: TranscriptKind): TranscriptState {
  return {
    owner: kind,
    isSubagent: kind.isSubagent,
    book,
    ledger: book.createLedger(),
    model: null,
    context: null,
    gitBranch: null,
    titles: {},
    turnIds: new Set(),
    turnCount: 0,
    response: null,
    interruptedAt: null,
  };
}

/** Adds one line. A line that is not JSON, or a row of an unknown type, adds nothing. */
export function addTranscriptRow(state: TranscriptState, line: string): TranscriptState {
  const row = parseRow(line);
  if (!row) return state;
  state.book.add(state.ledger, row, state.owner);
  if (row.isSidechain === true && !state.isSubagent) return state;
  state.gitBranch = readText(row.gitBranch, limits.maxIdLength) ?? state.gitBranch;
  if (isModelMessage(row)) {
    state.model = readText(row.message.model, limits.maxIdLength) ?? state.model;
    state.context = readContext(row, row.message) ?? state.context;
    state.response = addMessage(state.response, row.message);
    state.interruptedAt = dropIfOlder(row, state.interruptedAt);
  } else if (row.subtype === "compact_boundary") {
    // Unknown until the next response.
    state.context = null;
  } else if (isInterruption(row)) {
    state.interruptedAt = readTime(row.timestamp) ?? state.interruptedAt;
  } else if (startsTurn(row)) {
    state.response = null;
    state.interruptedAt = dropIfOlder(row, state.interruptedAt);
    if (isPrompt(row) && isNewRow(state, readText(row.uuid, limits.maxIdLength))) state.turnCount++;
  } else {
    const titleRow = titleRows.find((type) => type === row.type);
    if (titleRow) state.titles[titleRow] = parseTitle(row[titleFields[titleRow]]);
  }
  return state;
}

export function summarizeTranscript(state: TranscriptState): TranscriptFacts {
  return {
    model: state.model,
    context: state.context,
    turnCount: state.turnCount,
    gitBranch: state.gitBranch,
    title: titleRows.map((type) => state.titles[type]).find((title) => title) ?? null,
    lastResponse: state.response && truncateResponse(textOf(state.response), limits.maxTextLength),
    interruptedAt: state.interruptedAt,
  };
}

/**
 * The text of the last assistant message of the last turn, found backwards. `text` is null if it has none (tool calls or
 * thinking only), or the turn has no message yet: never the response of the turn before. `isWhole` is false if earlier lines
 * could change the result.
 */
export function findLastResponse(lines: readonly string[]): {
  readonly text: string | null;
  readonly isWhole: boolean;
} {
  const messages: JsonRecord[] = [];
  let messageId: string | null = null;
  let isWhole = false;
  for (let i = lines.length - 1; i >= 0 && !isWhole; i--) {
    const row = parseRow(lines[i] ?? "");
    if (!row || row.isSidechain === true) continue;
    if (!isModelMessage(row)) {
      isWhole = startsTurn(row);
      continue;
    }
    const id = readMessageId(row.message);
    const isAnother = messages.length > 0 && id !== messageId;
    if (!isAnother) messages.push(row.message);
    isWhole = isAnother || id === null;
    messageId = id;
  }
  const response = messages.reduceRight<AssistantResponse | null>(addMessage, null);
  return { text: response && textOf(response), isWhole };
}

/** Shortens to `maxLength` characters and "...". Never splits a surrogate pair. */
export function truncateResponse(response: string | null, maxLength: number): string | null {
  if (response === null || response.length <= maxLength) return response;
  return `${takeStart(response, maxLength)}...`;
}

function readContext(row: JsonRecord, message: JsonRecord): ContextUse | null {
  const used = isRecord(message.usage) ? countContext(message.usage) : 0;
  const model =
    readText(row.requestedModel, limits.maxIdLength) ?? readText(message.model, limits.maxIdLength);
  if (used === 0) return null;
  const window = model === null ? null : findWindow(model);
  // A request that did not fit would have been refused.
  return { used, window: window !== null && used > window ? Math.max(used, longWindow) : window };
}

const longWindow = 1_000_000;
/** The CLI gives these models 200,000 tokens of the million that they can have, unless `[1m]` follows the name (measured). */
const modelsWithShortWindow = /^claude-(?:opus|sonnet)-4-6/;

function findWindow(model: string): number | null {
  if (/\[1m\]$/i.test(model)) return longWindow;
  return modelsWithShortWindow.test(model) ? 200_000 : findContextWindow(model);
}

/** A rewind or a fork can write a row again. */
function isNewRow(state: TranscriptState, uuid: string | null): boolean {
  if (uuid === null) return true;
  if (state.turnIds.has(uuid)) return false;
  if (state.turnIds.size < limits.maxTranscriptIds) state.turnIds.add(uuid);
  return true;
}

/** The CLI writes a row for each block, all with the id of their message. */
function addMessage(before: AssistantResponse | null, message: JsonRecord): AssistantResponse {
  const messageId = readMessageId(message);
  const isSame = before !== null && messageId !== null && before.messageId === messageId;
  const earlier = isSame ? before.texts : [];
  const more = listTexts(message).filter((text) => !earlier.includes(text));
  return { messageId, texts: [...earlier, ...more].slice(0, limits.maxResponseBlocks) };
}

function textOf(response: AssistantResponse): string | null {
  return response.texts.join("\n").trim() || null;
}

function parseTitle(value: unknown): string | null {
  if (typeof value !== "string" || value.startsWith("<task-notification>")) return null;
  return toOneLine(value) || null;
}

/** The time of the interruption. null if the row is newer. Rows are not written in the order of their times. */
function dropIfOlder(row: JsonRecord, interruptedAt: number | null): number | null {
  if (interruptedAt === null) return null;
  return (readTime(row.timestamp) ?? Number.POSITIVE_INFINITY) > interruptedAt ? null : interruptedAt;
}

const interruptions: ReadonlySet<string> = new Set([
  "[Request interrupted by user]",
  "[Request interrupted by user for tool use]",
]);

export function parseRow(line: string): JsonRecord | null {
  return line.startsWith("{") ? parseRecordOrNull(line) : null;
}

/** A message of the model. The CLI writes some itself (API errors, "No response requested."). */
export function isModelMessage(row: JsonRecord): row is JsonRecord & { readonly message: JsonRecord } {
  if (row.type !== "assistant" || row.isApiErrorMessage === true) return false;
  return isRecord(row.message) && row.message.model !== "<synthetic>";
}

const relevantTexts = ['"assistant"', '"usage"', '-title"', '"summary"', '"compact_boundary"'].map((text) =>
  Buffer.from(text),
);
const [assistantText] = relevantTexts as [Buffer];
const userText = Buffer.from('"user"');
const toolResultText = Buffer.from('"tool_result"');
const interruptedText = Buffer.from("[Request interrupted");
/** The role and the first block are at the start of a row. */
const headBytes = 600;
/** A longer result of a tool was not refused by the user. */
const maxRefusalBytes = 16_384;

/**
 * False for a row that addTranscriptRow would ignore. Most of a long transcript is what tools returned, attachments and
 * requests; parsing them would take several times as long. Inside of a JSON string quotes are escaped, so these texts are not
 * found there.
 */
export function isRelevantRow(row: Buffer): boolean {
  const head = row.subarray(0, headBytes);
  if (head.includes(assistantText)) return true;
  if (head.includes(toolResultText)) return row.length <= maxRefusalBytes && row.includes(interruptedText);
  if (relevantTexts.some((text) => row.includes(text))) return true;
  return row.includes(userText) && (!row.includes(toolResultText) || row.includes(interruptedText));
}

/** Esc or "No" in the terminal. */
function isInterruption(row: JsonRecord): boolean {
  return row.type === "user" && interruptions.has(listTexts(row.message).join("\n"));
}

/** A prompt of the user's, or the CLI's own prompt that a background task has ended. */
function startsTurn(row: JsonRecord): boolean {
  if (row.type !== "user" || row.isSidechain === true) return false;
  return isPrompt(row) || listTexts(row.message).some((text) => text.startsWith("<task-notification>"));
}

/** Texts in tags are the CLI's: commands, their output, reminders. An editor adds some before what was typed. */
export function isPrompt(row: JsonRecord): boolean {
  if (row.type !== "user" || row.isSidechain === true) return false;
  if (row.isMeta === true || row.isCompactSummary === true) return false;
  const blocks = listBlocks(row.message);
  if (blocks.some((block) => block.type === "tool_result")) return false;
  const texts = listTexts(row.message);
  if (texts.length === 0) return blocks.some((block) => block.type === "image" || block.type === "document");
  return texts.some((text) => !/^\s*<[a-z][\w-]*>/i.test(text) && !interruptions.has(text));
}

export function listTexts(message: unknown): string[] {
  return listBlocks(message).flatMap(({ type, text }) =>
    type === "text" && typeof text === "string" && text ? [text] : [],
  );
}

export function listBlocks(message: unknown): readonly JsonRecord[] {
  const { content } = asRecord(message);
  return typeof content === "string" ? [{ type: "text", text: content }] : listRecords(content);
}

function readMessageId(message: JsonRecord): string | null {
  return readText(message.id, limits.maxIdLength);
}
