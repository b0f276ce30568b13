/** What Claude Code's transcript tells about its session. It lags behind the hooks. */

import { isRecord, type JsonRecord, readText } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { Enrichment, Tokens } from "../../core/session/event.ts";
import { oneLine } from "./summary.ts";
import {
  beginsTurn,
  idOf,
  isInterruption,
  isModelsWord,
  isPrompt,
  readRow,
  textsOf,
  timeOf,
} from "./transcript-row.ts";

export interface TranscriptFacts extends Enrichment {
  /** When the person broke the turn off that was the last to run; null: they did not, or another has begun since. */
  readonly interruptedAt: number | null;
}

/** What has been read so far. foldTranscript changes it in place: a copy per row would cost more than the reading. */
export interface TranscriptFold {
  model: string | null;
  gitBranch: string | null;
  readonly titles: Partial<Record<TitleRow, string | null>>;
  /** Tokens by message.id, and the sum of those forgotten to make room. */
  readonly messages: Map<string, Tokens>;
  forgotten: Tokens | null;
  readonly turnIds: Set<string>;
  turnCount: number;
  answer: Answer | null;
  interruptedAt: number | null;
}

interface Answer {
  readonly messageId: string | null;
  readonly texts: readonly string[];
}

type TitleRow = keyof typeof titleFields;

/** The best first. Not `last-prompt`: it was seen to be one of some turns ago. */
const titleFields = {
  "custom-title": "customTitle",
  "ai-title": "aiTitle",
  summary: "summary",
} as const;
const titleRows = Object.keys(titleFields) as readonly TitleRow[];

export function emptyTranscript(): TranscriptFold {
  return {
    model: null,
    gitBranch: null,
    titles: {},
    messages: new Map(),
    forgotten: null,
    turnIds: new Set(),
    turnCount: 0,
    answer: null,
    interruptedAt: null,
  };
}

/** Adds one line. A line that is no row, or a row of an unknown type, adds nothing. */
export function foldTranscript(fold: TranscriptFold, line: string): TranscriptFold {
  const row = readRow(line);
  if (!row || row.isSidechain === true) return fold;
  fold.gitBranch = readText(row.gitBranch, limits.maxIdLength) ?? fold.gitBranch;
  if (isModelsWord(row)) {
    fold.model = readText(row.message.model, limits.maxIdLength) ?? fold.model;
    foldUsage(fold, row.message);
    fold.answer = joined(fold.answer, row.message);
    fold.interruptedAt = unlessNewer(row, fold.interruptedAt);
  } else if (isInterruption(row)) {
    fold.interruptedAt = timeOf(row) ?? fold.interruptedAt;
  } else if (beginsTurn(row)) {
    fold.answer = null;
    fold.interruptedAt = unlessNewer(row, fold.interruptedAt);
    if (isPrompt(row) && isFirstSeen(fold, readText(row.uuid, limits.maxIdLength))) fold.turnCount++;
  } else {
    const titled = titleRows.find((type) => type === row.type);
    if (titled) fold.titles[titled] = titleOf(row[titleFields[titled]]);
  }
  return fold;
}

/** fromStart: whether the first row was read too; without it, turns and tokens are not known. */
export function transcriptFacts(fold: TranscriptFold, fromStart: boolean): TranscriptFacts {
  return {
    model: fold.model,
    tokens: fromStart ? [...fold.messages.values()].reduce<Tokens | null>(sum, fold.forgotten) : null,
    turnCount: fromStart ? fold.turnCount : null,
    gitBranch: fold.gitBranch,
    title: titleRows.map((type) => fold.titles[type]).find((title) => title) ?? null,
    lastResponse: fold.answer && cutAnswer(textOf(fold.answer), limits.maxTextLength),
    interruptedAt: fold.interruptedAt,
  };
}

/**
 * The text of the last assistant message of the last turn, found backwards. null: it has none (tool calls or thinking
 * only), or the turn has no message yet: never the answer of the turn before. `whole` is false where lines before the
 * first given one could change that.
 */
export function lastAnswer(lines: readonly string[]): {
  readonly text: string | null;
  readonly whole: boolean;
} {
  const messages: JsonRecord[] = [];
  let messageId: string | null = null;
  let whole = false;
  for (let i = lines.length - 1; i >= 0 && !whole; i--) {
    const row = readRow(lines[i] ?? "");
    if (!row) continue;
    if (!isModelsWord(row)) {
      whole = beginsTurn(row);
      continue;
    }
    const id = idOf(row.message);
    const isAnother = messages.length > 0 && id !== messageId;
    if (!isAnother) messages.push(row.message);
    whole = isAnother || id === null;
    messageId = id;
  }
  const answer = messages.reduceRight<Answer | null>(joined, null);
  return { text: answer && textOf(answer), whole };
}

/** Seed 000's cut: so many characters and "...", never in the middle of one. */
export function cutAnswer(answer: string | null, maxLength: number): string | null {
  if (answer === null || answer.length <= maxLength) return answer;
  const splits = /[\ud800-\udbff]/.test(answer.charAt(maxLength - 1));
  return `${answer.slice(0, splits ? maxLength - 1 : maxLength)}...`;
}

function foldUsage(fold: TranscriptFold, message: JsonRecord): void {
  const id = idOf(message);
  const { usage } = message;
  if (id === null || !isRecord(usage)) return;
  fold.messages.set(id, {
    // What is written to the cache is read by the model for the first time: input like any other.
    input: count(usage.input_tokens) + count(usage.cache_creation_input_tokens),
    output: count(usage.output_tokens),
    cached: count(usage.cache_read_input_tokens),
  });
  const [oldest] = fold.messages;
  if (oldest === undefined || fold.messages.size <= limits.maxTranscriptIds) return;
  fold.messages.delete(oldest[0]);
  fold.forgotten = sum(fold.forgotten, oldest[1]);
}

/** A rewind or a fork can write a row again. */
function isFirstSeen(fold: TranscriptFold, uuid: string | null): boolean {
  if (uuid === null) return true;
  if (fold.turnIds.has(uuid)) return false;
  if (fold.turnIds.size < limits.maxTranscriptIds) fold.turnIds.add(uuid);
  return true;
}

/** The CLI writes a row per block, all with the id of their message. */
function joined(before: Answer | null, message: JsonRecord): Answer {
  const messageId = idOf(message);
  const same = before !== null && messageId !== null && before.messageId === messageId;
  const earlier = same ? before.texts : [];
  const more = textsOf(message).filter((t) => !earlier.includes(t));
  return { messageId, texts: [...earlier, ...more].slice(0, limits.maxResponseBlocks) };
}

function textOf(answer: Answer): string | null {
  return answer.texts.join("\n").trim() || null;
}

function titleOf(value: unknown): string | null {
  if (typeof value !== "string" || value.startsWith("<task-notification>")) return null;
  return oneLine(value) || null;
}

/** Rows are not written in the order of their times. */
function unlessNewer(row: JsonRecord, interruptedAt: number | null): number | null {
  if (interruptedAt === null) return null;
  return (timeOf(row) ?? Number.POSITIVE_INFINITY) > interruptedAt ? null : interruptedAt;
}

function sum(a: Tokens | null, b: Tokens): Tokens {
  if (a === null) return b;
  return { input: a.input + b.input, output: a.output + b.output, cached: a.cached + b.cached };
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
