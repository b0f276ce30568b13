/** From a request's text to an event that is kept: parsed, stamped, masked, journalled, and only then counted. */
import { randomUUID } from "node:crypto";
import { type HookMessage, openEnvelope, stampEvent } from "../agents/envelope.ts";
import type { LoadedAgents } from "../agents/index.ts";
import type { JsonRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import type { IngestResult } from "../core/ports.ts";
import type { AgentEvent, ClockReading, Moment } from "../core/session/event.ts";
import { isProbe } from "../core/session/probe.ts";
import { hashText } from "../core/text/json-text.ts";
import type { Journal, JournalLine } from "../storage/journal/index.ts";

export interface IngestOptions {
  readonly agents: LoadedAgents;
  readonly journal: Pick<Journal, "append">;
  /** What comes before `from` holds no secrets. */
  readonly mask: (text: string, from: number) => string;
  readonly clock: () => ClockReading;
  readonly defaultProvider: string;
  readonly dispatch: (event: AgentEvent) => void;
  readonly onError: (text: string) => void;
}

export interface Ingest {
  accept(text: string, spool?: readonly [string, number]): Promise<IngestResult>;
  /** An event out of the journal: counted, not kept again. */
  replay(line: JournalLine): void;
  /** Ids that were kept before this start. */
  rememberIds(ids: Iterable<string>): void;
}

const ok: IngestResult = { status: 200 };
/** `beckon doctor` is over by then. */
const probeMs = 5_000;
/** As our own forwarders write it: provider, `_meta`, and last the payload. */
const envelopeStart = '{"provider":';
const payloadName = '"payload"';
const unknownProvider: IngestResult = { status: 400, error: "unknown provider" };
const invalid: IngestResult = { status: 400, error: "invalid JSON" };

/** A request's text, read. */
interface Parcel {
  readonly hook: HookMessage;
  /** Equal for equal payloads, whichever forwarder brought them. */
  readonly key: string;
  readonly text: string;
  readonly here: ClockReading;
  readonly when: Moment;
  readonly spool: readonly [string, number] | undefined;
}

/** Remembers the last so many ids, between half of them and all. */
function createRecent(max: number) {
  let young = new Set<string>();
  let old = new Set<string>();
  return {
    has: (id: string) => young.has(id) || old.has(id),
    add(id: string) {
      young.add(id);
      if (young.size < max / 2) return;
      old = young;
      young = new Set();
    },
    forget(id: string) {
      young.delete(id);
      old.delete(id);
    },
  };
}

export function createIngest(options: IngestOptions): Ingest {
  const { agents, journal, clock } = options;
  /** Kept, or about to be. */
  const known = createRecent(limits.maxRememberedIds);

  function open(raw: string, spool: Parcel["spool"]): Parcel | IngestResult {
    const here = clock();
    const body = parse(raw);
    if (body === undefined) return invalid;
    const hook = openEnvelope(body, options.defaultProvider, here.host);
    if (!hook) return { status: 400, error: "invalid JSON: the body is no object" };
    const agent = agents.get(hook.provider);
    if (!agent) return unknownProvider;
    const payloadAt = hook.payload === body ? 0 : payloadIn(raw);
    // What a forwarder of ours adds before the payload holds no secrets, and is a third of the text.
    const from = Math.max(0, payloadAt);
    const lean = agent.stripToolOutput(raw, from, hook.payload);
    const text = options.mask(lean, from);
    // What was covered is covered in the state too.
    const kept = text === lean ? hook : openEnvelope(parse(text), options.defaultProvider, here.host);
    if (!kept) return invalid;
    const written = () => (payloadAt < 0 ? writeOut(hook.payload) : raw.slice(payloadAt));
    const key = agent.dedupeKey(hook.payload) ?? hashText(written());
    return { hook: kept, key, text, here, when: stampEvent(hook.meta, here), spool };
  }

  function understand({ hook, key, when }: Parcel, id: string): AgentEvent | IngestResult {
    try {
      const stamped = { at: when.at, t: when.t, id, key };
      const agent = agents.get(hook.provider);
      if (!agent) return unknownProvider;
      const event = agent.translate(hook, stamped);
      return event ?? { status: 400, error: agent.explainRefusal(hook.payload) };
    } catch (error) {
      options.onError(`an event was not understood: ${message(error)}`);
      return { status: 500, error: `the event was not understood: ${message(error)}` };
    }
  }

  /** Those whose entries are written together share one fate: one promise for all of them. */
  let together: { written: Promise<void>; events: AgentEvent[]; outcome: Promise<IngestResult> } | null =
    null;

  function keep({ key, text, here, when, spool }: Parcel, event: AgentEvent): Promise<IngestResult> {
    const entry = { id: event.id, at: when.at, t: when.t, boot: here.boot, key, text };
    const written = journal.append(spool ? { ...entry, spool } : entry);
    if (together?.written !== written) {
      const events: AgentEvent[] = [];
      const outcome = written.then(
        () => countAll(events),
        (error) => refuseAll(events, error),
      );
      together = { written, events, outcome };
    }
    together.events.push(event);
    return together.outcome;
  }

  /** Of an event that came before. */
  async function fateOf(id: string): Promise<IngestResult> {
    if (together?.events.some((event) => event.id === id)) return together.outcome;
    // One that was just refused is forgotten by then.
    await null;
    return known.has(id) ? ok : { status: 503, error: "not kept" };
  }

  function countAll(events: readonly AgentEvent[]): IngestResult {
    for (const event of events) count(event);
    return ok;
  }

  function refuseAll(events: readonly AgentEvent[], error: unknown): IngestResult {
    for (const event of events) known.forget(event.id);
    options.onError(`could not keep ${events.length} events: ${message(error)}`);
    return { status: 503, error: `not kept: ${message(error)}` };
  }

  /** The event is safe: whatever fails from here on is ours alone. */
  function count(event: AgentEvent): void {
    // A test counts while somebody waits for it. Out of the spool or journal it would be a session of nobody's.
    if (isProbe(event) && clock().t - event.t > probeMs) return;
    try {
      options.dispatch(event);
    } catch (error) {
      options.onError(`could not count ${event.name} of ${event.sessionId}: ${message(error)}`);
    }
  }

  function tellAgain({ id, at, t: then, boot, key, body }: JournalLine): void {
    const here = clock();
    const isOfThisBoot = boot !== null && boot === here.boot;
    const t = isOfThisBoot ? then : here.t - Math.max(0, here.at - at);
    const hook = openEnvelope(body, options.defaultProvider, hostThen(here, boot));
    const event = hook && agents.get(hook.provider)?.translate(hook, { at, t, id, key });
    if (event) count(event);
  }

  return {
    accept(raw, spool) {
      const parcel = open(raw, spool);
      if ("status" in parcel) return Promise.resolve(parcel);
      const id = parcel.hook.meta.id ?? randomUUID();
      if (known.has(id)) return fateOf(id);
      const event = understand(parcel, id);
      if ("status" in event) return Promise.resolve(event);
      const fate = keep(parcel, event);
      known.add(id);
      return fate;
    },

    replay(line) {
      known.add(line.id);
      try {
        tellAgain(line);
      } catch (error) {
        options.onError(`the journal's event ${line.id} was passed over: ${message(error)}`);
      }
    },

    rememberIds(ids) {
      for (const id of ids) known.add(id);
    },
  };
}

/** What this machine was called in an earlier boot: its processes were ours to see, and are gone. */
function hostThen({ host, boot }: ClockReading, then: string | null): string | null {
  return host !== null && boot !== null && then !== null ? host.replace(boot, then) : host;
}

/** Where the payload begins in an envelope of ours; -1: what is first called so may be something else, as in a project of that name. */
function payloadIn(envelope: string): number {
  if (!envelope.startsWith(envelopeStart)) return -1;
  const named = envelope.indexOf(payloadName);
  return envelope.startsWith(":", named + payloadName.length) ? named : -1;
}

function writeOut(payload: JsonRecord): string {
  try {
    return JSON.stringify(payload);
  } catch {
    // Too deep: told apart by an id of its own, so that none is taken for another.
    return randomUUID();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
