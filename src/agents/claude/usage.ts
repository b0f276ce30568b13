/**
 * What a session's requests used, from the rows of its transcripts. Counts as ccusage 20 does (measured):
 *
 * - Rows with the same message id and request id are one request; without a request id, within one session. The row with most
 *   tokens counts, because the CLI writes a row for each block while the numbers still grow.
 * - A row of a subagent can repeat one of another thread, with a new request id but the same time. It counts once, for the
 *   main thread if that has it.
 * - What an advisor model used is part of the row, and costs its own model's price.
 *
 * A fork's transcript starts with a copy of the other session's rows. They count for that session if its transcript is there.
 */

import { forgetOldest } from "../../core/forget-oldest.ts";
import { asCount, isRecord, type JsonRecord, readText } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { Usage } from "../../core/session/event.ts";
import { priceTokens, type TokenParts } from "./prices.ts";

/** What the requests of one transcript used. */
export interface UsageLedger {
  readonly sums: Record<keyof TokenParts, number>;
  /** In picodollars, of the requests whose price is known. */
  cost: number;
  /** How many requests have an unknown price. */
  unpriced: number;
  /** How many requests were counted. */
  requests: number;
}

interface Request {
  readonly ledger: UsageLedger;
  readonly requestId: string | null;
  readonly sessionId: string;
  /** NaN if unknown. */
  readonly at: number;
  readonly isSidechain: boolean;
  readonly parts: TokenParts;
  readonly total: number;
  /** In picodollars. null if unknown. */
  readonly cost: number | null;
}

export interface TranscriptOwner {
  readonly sessionId: string;
  /** True if there is a transcript of this session too. */
  hasTranscript(sessionId: string): boolean;
}

/** The requests of all transcripts: a request can be written to several of them. */
export interface UsageBook {
  createLedger(): UsageLedger;
  /** Counts a row of the owner's transcript, if it is a response of a model. */
  add(ledger: UsageLedger, row: JsonRecord, owner: TranscriptOwner): void;
  forget(ledger: UsageLedger): void;
}

export function createUsageBook(): UsageBook {
  /** By message id. Almost always there is one request of an id. */
  const requests = new Map<string, Request[]>();

  function addRequest(messageId: string | null, request: Request): void {
    if (request.total === 0) return;
    if (messageId === null) {
      count(request, 1);
      return;
    }
    const same = requests.get(messageId);
    const before = same?.find((other) => isSameRequest(other, request));
    if (before && !isBetter(request, before)) return;
    if (before) count(before, -1);
    count(request, 1);
    if (same && before) same[same.indexOf(before)] = request;
    else if (same) same.push(request);
    else requests.set(messageId, [request]);
    // What it used stays counted.
    forgetOldest(requests, limits.maxUsageMessages);
  }

  return {
    createLedger() {
      const sums = { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };
      return { sums, cost: 0, unpriced: 0, requests: 0 };
    },
    add(ledger, row, owner) {
      const { message } = row;
      if (!isRecord(message) || !isRecord(message.usage)) return;
      const sessionId = readText(row.sessionId, limits.maxIdLength) ?? owner.sessionId;
      const madeBy = readText(row.session_id, limits.maxIdLength) ?? sessionId;
      if (madeBy !== sessionId && owner.hasTranscript(madeBy)) return;
      const messageId = readText(message.id, limits.maxIdLength);
      const { usage } = message;
      const common = {
        ledger,
        requestId: readText(row.requestId, limits.maxIdLength),
        sessionId,
        at: typeof row.timestamp === "string" ? Date.parse(row.timestamp) : Number.NaN,
        isSidechain: row.isSidechain === true,
      };
      addRequest(messageId, {
        ...common,
        ...measure(usage, readText(message.model, limits.maxIdLength), usage.speed === "fast"),
      });
      if (!Array.isArray(usage.iterations)) return;
      usage.iterations.slice(0, limits.maxHookItems).forEach((iteration: unknown, index) => {
        if (!isRecord(iteration) || iteration.type !== "advisor_message") return;
        const model = readText(iteration.model, limits.maxIdLength);
        if (model !== null)
          addRequest(messageId && `${messageId} ${index}`, {
            ...common,
            ...measure(iteration, model, false),
          });
      });
    },
    forget(ledger) {
      for (const [id, same] of requests) {
        const others = same.filter((request) => request.ledger !== ledger);
        if (others.length === 0) requests.delete(id);
        else if (others.length < same.length) requests.set(id, others);
      }
    },
  };
}

/** What the transcripts of a session used together. null if they have no request. */
export function sumUsage(ledgers: readonly UsageLedger[]): Usage | null {
  if (!ledgers.some(({ requests }) => requests > 0)) return null;
  const sum = (part: keyof TokenParts) => ledgers.reduce((total, { sums }) => total + sums[part], 0);
  return {
    tokens: {
      input: sum("input"),
      output: sum("output"),
      cacheRead: sum("cacheRead"),
      cacheWrite: sum("cacheWrite5m") + sum("cacheWrite1h"),
    },
    costMicros: ledgers.some(({ unpriced }) => unpriced > 0)
      ? null
      : Math.round(ledgers.reduce((total, { cost }) => total + cost, 0) / 1e6),
  };
}

/** How many tokens a request sent: as many as the context then had. */
export function countContext(usage: JsonRecord): number {
  const { parts } = measure(usage, null, false);
  return parts.input + parts.cacheRead + parts.cacheWrite5m + parts.cacheWrite1h;
}

function isSameRequest(a: Request, b: Request): boolean {
  const isSameSession = a.sessionId === b.sessionId;
  if (a.requestId === b.requestId && (a.requestId !== null || isSameSession)) return true;
  return isSameSession && a.at === b.at && (a.isSidechain || b.isSidechain);
}

/** True if `a` counts instead of `b`. The first of equal ones counts. */
function isBetter(a: Request, b: Request): boolean {
  return a.isSidechain === b.isSidechain ? a.total > b.total : b.isSidechain;
}

function count({ ledger, parts, cost }: Request, times: 1 | -1): void {
  const { sums } = ledger;
  sums.input += times * parts.input;
  sums.output += times * parts.output;
  sums.cacheRead += times * parts.cacheRead;
  sums.cacheWrite5m += times * parts.cacheWrite5m;
  sums.cacheWrite1h += times * parts.cacheWrite1h;
  ledger.cost += times * (cost ?? 0);
  ledger.unpriced += cost === null ? times : 0;
  ledger.requests += times;
}

function measure(
  usage: JsonRecord,
  model: string | null,
  isFast: boolean,
): Pick<Request, "parts" | "total" | "cost"> {
  const tiers = isRecord(usage.cache_creation) ? usage.cache_creation : null;
  const parts: TokenParts = {
    input: asCount(usage.input_tokens),
    output: asCount(usage.output_tokens),
    cacheRead: asCount(usage.cache_read_input_tokens),
    // The flat number is the sum of the tiers, and the only one that older CLIs write.
    cacheWrite5m: asCount(tiers ? tiers.ephemeral_5m_input_tokens : usage.cache_creation_input_tokens),
    cacheWrite1h: asCount(tiers?.ephemeral_1h_input_tokens),
  };
  const { input, output, cacheRead, cacheWrite5m, cacheWrite1h } = parts;
  const total = input + output + cacheRead + cacheWrite5m + cacheWrite1h;
  return { parts, total, cost: model === ownModel ? 0 : priceIfKnown(model, parts, isFast) };
}

/** The CLI's own messages, which no model wrote. */
const ownModel = "<synthetic>";

function priceIfKnown(model: string | null, parts: TokenParts, isFast: boolean): number | null {
  return model === null ? null : priceTokens(model, parts, isFast);
}
