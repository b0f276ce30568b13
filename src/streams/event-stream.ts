/**
 * GET /api/events: every change as a server-sent event. Changes are computed once for all clients, and not at all without any.
 * Asks and agents are also kept by the history, so that a client that was away gets them when it connects again.
 */
import { version } from "../../package.json";
import type { Quiet } from "../core/config/quiet.ts";
import { createGrowingIds } from "../core/growing-ids.ts";
import type { HistoryReader, Schedule, Sink, Transition } from "../core/interfaces/index.ts";
import type { StreamEvent, StreamMessage } from "../core/interfaces/wire.ts";
import { limits } from "../core/limits.ts";
import { isProbe } from "../core/session/probe.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { openResponseStream, type ResponseStream } from "../system/response-stream.ts";
import { createSentSessions, type SentSessionsOptions } from "./sent-sessions.ts";
import { createChildUpdates, createStreamMessage, isUpdate } from "./stream-event.ts";

export interface EventStreamOptions extends SentSessionsOptions {
  /** Wall time. */
  readonly now: () => number;
  readonly quiet: () => Quiet | null;
  readonly history: Pick<HistoryReader, "findMissedEvents"> & {
    readonly addStreamEvent: (event: StreamEvent) => void;
  };
  readonly schedule: Schedule;
  /** Called when the first client connects: from then on, time alone can change what clients know. */
  readonly startRendering: (sink: Sink) => void;
  /** For tests. */
  readonly pingMs?: number;
}

export interface EventStream extends Sink {
  /** The response for a client. `lastEventId` is the last event that it has seen; null if it is new. */
  connect(lastEventId: string | null, signal: AbortSignal): Response;
  /** How many clients are connected. */
  clients(): number;
  /** Closes every connection. */
  stop(): void;
}

/** A client that reads slower than beckon writes is dropped: it connects again, and gets the whole state. */
type Client = ResponseStream;

const pingMs = 15_000;
/** Changes that follow each other within this time are sent together. The first is sent at once. */
const gatherMs = 10;
/** How often all sessions are compared at most, for what changes without an event: settings, answers, and time. */
const compareAllMs = 250;
/** Some changes need no event at all: a session becomes idle, a snooze ends. */
const idleCompareMs = 5_000;
const maxRecentEvents = 1_000;

const headers = new Headers({
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
});
const encoder = new TextEncoder();
const ping = encoder.encode(": ping\n\n");

export function createEventStream(options: EventStreamOptions): EventStream {
  const { now, schedule, history } = options;
  const clients = new Set<Client>();
  /** Connections, with those that do not have their first events yet. */
  let connectionCount = 0;
  const sent = createSentSessions(options, publish);
  const changed = new Set<string>();
  /** The newest events that the history keeps: it writes them a moment later. */
  const recent: StreamEvent[] = [];
  const nextId = createGrowingIds(now);
  const createId = () => String(nextId());
  let comparedAt = Number.NEGATIVE_INFINITY;
  let flushedAt = Number.NEGATIVE_INFINITY;
  let cancelFlush: (() => void) | null = null;
  let cancelPing: (() => void) | null = null;
  let isStopped = false;

  function broadcast(event: StreamEvent): void {
    const bytes = formatEvent(event);
    for (const client of clients) if (!client.send(bytes)) remove(client);
  }

  function publish(message: StreamMessage): void {
    if (clients.size > 0) broadcast({ id: createId(), ...message });
  }

  /** For what a client must not miss while it is away. */
  function publishAndKeep(message: StreamMessage): void {
    const event: StreamEvent = { id: createId(), ...message };
    recent.push(event);
    if (recent.length > maxRecentEvents) recent.shift();
    history.addStreamEvent(event);
    if (clients.size > 0) broadcast(event);
  }

  function remove(client: Client): void {
    if (!clients.delete(client)) return;
    client.close();
    if (clients.size > 0) return;
    cancelPing?.();
    cancelFlush?.();
    cancelPing = cancelFlush = null;
    sent.clear();
    changed.clear();
  }

  function sendPings(): void {
    for (const client of clients) if (!client.send(ping)) remove(client);
    cancelPing = clients.size > 0 ? schedule(sendPings, options.pingMs ?? pingMs) : null;
  }

  function flush(): void {
    cancelFlush = null;
    flushedAt = now();
    sent.compare(changed);
    changed.clear();
  }

  function createSnapshotEvent(): StreamEvent {
    const sessions = options.sessions();
    // The other clients know the same after the next flush.
    if (clients.size === 0) sent.assume(sessions);
    return {
      id: createId(),
      event: "snapshot",
      data: { now: now(), version, quiet: options.quiet(), sessions },
    };
  }

  async function start(client: Client, lastEventId: string | null): Promise<void> {
    const missed = lastEventId === null ? [] : await findMissed(lastEventId);
    if (isStopped) {
      client.close();
      return;
    }
    const first = [...missed, createSnapshotEvent()];
    if (!first.every((event) => client.send(formatEvent(event)))) return client.close();
    clients.add(client);
    if (clients.size === 1) options.startRendering(rendering);
    cancelPing ??= schedule(sendPings, options.pingMs ?? pingMs);
  }

  async function findMissed(lastEventId: string): Promise<StreamEvent[]> {
    const kept = await history.findMissedEvents(lastEventId);
    const newestKept = Number(kept.at(-1)?.id ?? lastEventId);
    return [...kept, ...recent.filter(({ id }) => Number(id) > newestKept)];
  }

  function onTransition(transition: Transition): void {
    if (transition.kind === "departed") sent.forget(transition.key);
    const isForClientsOnly = isUpdate(transition);
    if (isForClientsOnly && clients.size === 0) return;
    const message = createStreamMessage(transition);
    if (message && isForClientsOnly) publish(message);
    else if (message) publishAndKeep(message);
  }

  const rendering: Sink = {
    name: "event stream",
    render({ now: { at } }) {
      if (clients.size === 0) return null;
      if (at - comparedAt < compareAllMs && at >= comparedAt) return comparedAt + compareAllMs;
      comparedAt = at;
      sent.compareAll();
      return at + idleCompareMs;
    },
  };

  return {
    ...rendering,
    connect(lastEventId, signal) {
      if (connectionCount >= limits.maxStreamClients)
        return new Response('{"error":"too many clients of /api/events"}', {
          status: 503,
          headers: { "content-type": "application/json" },
        });
      connectionCount++;
      const client = openResponseStream(signal, () => {
        connectionCount--;
        remove(client);
      });
      void start(client, lastEventId);
      return new Response(client.body, { headers });
    },
    clients: () => clients.size,
    onChange(change) {
      const { session } = change;
      if (clients.size === 0 || isProbe(session)) return;
      for (const message of createChildUpdates(change)) publish(message);
      changed.add(sessionKeyOf(session));
      cancelFlush ??= schedule(flush, Math.min(Math.max(0, flushedAt + gatherMs - now()), gatherMs));
    },
    onTransition,
    stop() {
      isStopped = true;
      for (const client of [...clients]) remove(client);
    },
  };
}

function formatEvent({ id, event, data }: StreamEvent): Uint8Array {
  // JSON has no line breaks outside of strings, and escapes those inside.
  return encoder.encode(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}
