/**
 * Ingest: the way of an event from a request's text into the state. It is parsed, stamped, masked and journalled, and only then
 * dispatched. The spool and the journal's replay take the same way.
 */
import { randomUUID } from "node:crypto";
import { unsupportedCaller } from "../agents/callers.ts";
import { type HookMessage, openEnvelope, stampEvent } from "../agents/envelope.ts";
import type { LoadedAgents } from "../agents/index.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type { IngestResult } from "../core/interfaces/index.ts";
import { type JsonRecord, parseJson } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import type { AgentEvent, ClockReading, Moment } from "../core/session/event.ts";
import { isProbe } from "../core/session/probe.ts";
import { hashText } from "../core/text/json-text.ts";
import type { Journal, JournalLine } from "../storage/journal/index.ts";
import type { LostHooks } from "./lost-hooks.ts";

export interface IngestOptions {
  readonly agents: LoadedAgents;
  readonly journal: Pick<Journal, "append">;
  /** Masks secrets. There are none before `from`. */
  readonly mask: (text: string, from: number, identifiers: ReadonlySet<string>) => string;
  readonly clock: () => ClockReading;
  readonly defaultProvider: string;
  readonly dispatch: (event: AgentEvent) => void;
  readonly onError: (text: string) => void;
  /** Absent if what hooks could not send stays unknown. */
  readonly lostHooks?: LostHooks;
}

export interface Ingest {
  /** `spool` is the position after an event from the spool. */
  accept(text: string, spool?: readonly [string, number]): Promise<IngestResult>;
  /** Dispatches an event of the journal, which is not journalled again. */
  replay(line: JournalLine): void;
  /** The ids of events that were journalled before this start: they are ignored if they arrive again. */
  rememberIds(ids: Iterable<string>): void;
}

const accepted: IngestResult = { outcome: "accepted" };
const invalidJson: IngestResult = { outcome: "rejected", reason: "invalid JSON" };
const unknownProvider: IngestResult = { outcome: "rejected", reason: "unknown provider" };

/** `beckon doctor` has given up on its test event by then. */
const maxProbeAgeMs = 5_000;

/** A request that was read, before its payload is translated. */
interface ParsedRequest {
  /** With its secrets masked. */
  readonly message: HookMessage;
  /** Equal for equal payloads, whichever forwarder sent them. */
  readonly dedupeKey: string;
  readonly maskedText: string;
  readonly clock: ClockReading;
  readonly moment: Moment;
  readonly spool: readonly [string, number] | undefined;
}

/** The events that one write of the journal stores: all of them or none. */
interface Batch {
  readonly written: Promise<void>;
  readonly events: AgentEvent[];
  readonly result: Promise<IngestResult>;
}

export function createIngest(options: IngestOptions): Ingest {
  const { agents, journal, clock, defaultProvider, lostHooks } = options;
  /** Events that are journalled or being journalled. */
  const knownIds = createIdMemory(limits.maxRememberedIds);
  let batch: Batch | null = null;

  function translate(request: ParsedRequest, id: string): AgentEvent | IngestResult {
    const { message, dedupeKey, moment } = request;
    const agent = agents.get(message.provider);
    if (!agent) return unknownProvider;
    try {
      const event = agent.translate(message, { at: moment.at, t: moment.t, id, key: dedupeKey });
      return event ?? { outcome: "rejected", reason: agent.explainRefusal(message.payload) };
    } catch (error) {
      const reason = `the event could not be translated: ${readErrorMessage(error)}`;
      options.onError(reason);
      return { outcome: "failed", reason };
    }
  }

  function store(request: ParsedRequest, event: AgentEvent): Promise<IngestResult> {
    const { dedupeKey, maskedText, moment, spool } = request;
    const { boot } = request.clock;
    const entry = { id: event.id, at: moment.at, t: moment.t, boot, key: dedupeKey, text: maskedText };
    const written = journal.append(spool ? { ...entry, spool } : entry);
    if (batch?.written !== written) {
      const events: AgentEvent[] = [];
      const result = written.then(
        () => dispatchAll(events),
        (error) => forgetAll(events, error),
      );
      batch = { written, events, result };
    }
    batch.events.push(event);
    return batch.result;
  }

  /** For an event that arrived before. */
  async function findResult(id: string): Promise<IngestResult> {
    if (batch?.events.some((event) => event.id === id)) return batch.result;
    // An id whose write has just failed is forgotten by then.
    await null;
    return knownIds.has(id) ? accepted : { outcome: "not-stored", reason: "not stored" };
  }

  function dispatchAll(events: readonly AgentEvent[]): IngestResult {
    for (const event of events) dispatch(event);
    return accepted;
  }

  function forgetAll(events: readonly AgentEvent[], error: unknown): IngestResult {
    for (const event of events) knownIds.forget(event.id);
    options.onError(`could not store ${events.length} events: ${readErrorMessage(error)}`);
    return { outcome: "not-stored", reason: `not stored: ${readErrorMessage(error)}` };
  }

  /** The event is in the journal, so an error here must not reach its sender. */
  function dispatch(event: AgentEvent): void {
    // A test event of `beckon doctor` must not come back from the spool or the journal as a session.
    if (isProbe(event) && clock().t - event.t > maxProbeAgeMs) return;
    try {
      options.dispatch(event);
    } catch (error) {
      options.onError(`could not apply ${event.name} of ${event.sessionId}: ${readErrorMessage(error)}`);
    }
  }

  function replayLine({ id, at, t: savedT, boot, key, body }: JournalLine): void {
    const now = clock();
    const isSameBoot = boot !== null && boot === now.boot;
    const t = isSameBoot ? savedT : now.t - Math.max(0, now.at - at);
    const message = openEnvelope(body, defaultProvider, hostOfBoot(now, boot));
    if (message?.meta.attended === false) lostHooks?.note(message, at);
    const event = message && agents.get(message.provider)?.translate(message, { at, t, id, key });
    if (event) dispatch(event);
  }

  function acceptOnce(request: ParsedRequest, id: string): Promise<IngestResult> {
    if (knownIds.has(id)) return findResult(id);
    const event = translate(request, id);
    if ("outcome" in event) return Promise.resolve(event);
    const result = store(request, event);
    knownIds.add(id);
    return result;
  }

  /** What happened before the end of a run is known before it, so that everything is told in its order. */
  async function acceptAfter(
    finding: Promise<readonly string[]>,
    request: ParsedRequest,
    id: string,
  ): Promise<IngestResult> {
    try {
      for (const text of await finding) {
        const lost = parseRequest(text, undefined, options);
        if (!("outcome" in lost)) await acceptOnce(lost, lost.message.meta.id ?? randomUUID());
      }
    } catch (error) {
      options.onError(`could not look for events that hooks did not send: ${readErrorMessage(error)}`);
    }
    return acceptOnce(request, id);
  }

  return {
    accept(text, spool) {
      const request = parseRequest(text, spool, options);
      if ("outcome" in request) return Promise.resolve(request);
      const { message, moment } = request;
      const id = message.meta.id ?? randomUUID();
      if (message.meta.attended !== false || !lostHooks || knownIds.has(id)) return acceptOnce(request, id);
      if (lostHooks.isReplaced(message)) return Promise.resolve(accepted);
      lostHooks.note(message, moment.at);
      const finding = lostHooks.find(message, moment.at);
      return finding ? acceptAfter(finding, request, id) : acceptOnce(request, id);
    },

    replay(line) {
      knownIds.add(line.id);
      try {
        replayLine(line);
      } catch (error) {
        options.onError(`skipped the event ${line.id} of the journal: ${readErrorMessage(error)}`);
      }
    },

    rememberIds(ids) {
      for (const id of ids) knownIds.add(id);
    },
  };
}

function parseRequest(
  text: string,
  spool: ParsedRequest["spool"],
  { agents, clock, defaultProvider, mask }: IngestOptions,
): ParsedRequest | IngestResult {
  const now = clock();
  const body = parseJson(text);
  if (body === undefined) return invalidJson;
  const message = openEnvelope(body, defaultProvider, now.host);
  if (!message) return { outcome: "rejected", reason: "invalid JSON: the body is not an object" };
  const agent = agents.get(message.provider);
  if (message.provider === unsupportedCaller) return accepted;
  if (!agent) return unknownProvider;
  const payloadStart = message.payload === body ? 0 : findPayloadKey(text);
  // What our forwarders add before the payload contains no secrets, and is a third of the text.
  const from = Math.max(0, payloadStart);
  const stripped = agent.stripToolOutput(text, from, message.payload);
  const maskedText = mask(stripped, from, agent.identifierFields);
  const maskedMessage =
    maskedText === stripped ? message : openEnvelope(parseJson(maskedText), defaultProvider, now.host);
  if (!maskedMessage) return invalidJson;
  const hashPayload = () =>
    hashText(payloadStart < 0 ? stringifyPayload(message.payload) : text.slice(payloadStart));
  return {
    message: maskedMessage,
    dedupeKey: agent.dedupeKey(message.payload) ?? hashPayload(),
    maskedText,
    clock: now,
    moment: stampEvent(message.meta, now),
    spool,
  };
}

/** Remembers the newest ids: at least half of `max`, at most all. */
function createIdMemory(max: number) {
  let newer = new Set<string>();
  let older = new Set<string>();
  return {
    has: (id: string) => newer.has(id) || older.has(id),
    add(id: string) {
      newer.add(id);
      if (newer.size < max / 2) return;
      older = newer;
      newer = new Set();
    },
    forget(id: string) {
      newer.delete(id);
      older.delete(id);
    },
  };
}

/** This machine's host id in an earlier boot. The processes of that boot were local, and are gone. */
function hostOfBoot({ host, boot }: ClockReading, earlierBoot: string | null): string | null {
  return host !== null && boot !== null && earlierBoot !== null ? host.replace(boot, earlierBoot) : host;
}

/** Our forwarders write the provider, `_meta`, and last the payload. */
const envelopeStart = '{"provider":';
const payloadName = '"payload"';

/** The index of the key `"payload"` in an envelope of our forwarders. -1 if the first match can be a value in `_meta`. */
function findPayloadKey(envelope: string): number {
  if (!envelope.startsWith(envelopeStart)) return -1;
  const start = envelope.indexOf(payloadName);
  return envelope.startsWith(":", start + payloadName.length) ? start : -1;
}

function stringifyPayload(payload: JsonRecord): string {
  try {
    return JSON.stringify(payload);
  } catch {
    // Nested too deeply. A random text keeps it from being taken for a duplicate.
    return randomUUID();
  }
}
