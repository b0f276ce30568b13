/**
 * Describes this machine's sessions to the machines that are linked to it, and does what their users ask for. Each linked machine
 * has one response that stays open (`GET /api/link`); what it asks comes in requests of its own (`POST /api/link/ID/message`), because
 * `beckon link` carries both over one pair of pipes.
 */
import { version } from "../../package.json";
import type { PendingRequests } from "../answers/pending.ts";
import type { Schedule, SessionChange, Transition } from "../core/interfaces/index.ts";
import { limits } from "../core/limits.ts";
import type { Answer } from "../core/session/ask-details.ts";
import type { ClockReading } from "../core/session/event.ts";
import { answerIdOf } from "../core/session/keys.ts";
import { isProbe } from "../core/session/probe.ts";
import { isVisible, type Session } from "../core/session/session.ts";
import { parseSessionKey, type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import { findSettleTime, settle } from "../core/session/settle.ts";
import type { FocusOutcome } from "../core/terminals/terminal.ts";
import { takeStart } from "../core/text/truncate.ts";
import { openResponseStream, type ResponseStream } from "../system/response-stream.ts";
import {
  type DescribedAsk,
  type DescribedSession,
  type FollowerRequest,
  formatMessage,
  type OwnerMessage,
  parseFollowerMessage,
  protocolVersion,
  type RequestOutcome,
} from "./protocol.ts";

export interface PublisherOptions {
  readonly machineId: string;
  readonly agents: () => readonly string[];
  readonly hasChannels: () => boolean;
  readonly clock: () => ClockReading;
  /** This machine's own sessions. */
  readonly sessions: () => readonly Session[];
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly pending: Pick<PendingRequests, "details" | "maskedDetails" | "answer">;
  readonly focus: (session: Session) => Promise<FocusOutcome>;
  readonly schedule: Schedule;
  readonly onProblem: (text: string) => void;
}

export interface Publisher {
  /** `id` is chosen by the follower, and names it in `take`. */
  connect(id: string, signal: AbortSignal): Response;
  /** Takes a message of the follower. Returns what is wrong with it; null if it is understood or ignored. */
  take(id: string, line: string): string | null;
  onChange(change: SessionChange): void;
  onTransition(transition: Transition): void;
  onRefresh(): void;
  /** How many machines are linked to this one. */
  count(): number;
  stop(): void;
}

interface Follower {
  readonly stream: ResponseStream;
  /** In the user's words; for the log of answers. */
  name: string;
}

/** Changes within this time are described together. */
const gatherMs = 15;
const aliveMs = 15_000;
const maxFollowers = 16;
const encoder = new TextEncoder();

export function createPublisher(options: PublisherOptions): Publisher {
  const { clock, schedule, pending, get } = options;
  const followers = new Map<string, Follower>();
  /** What was sent of each session, by its key. */
  const sent = new Map<string, string>();
  const changed = new Set<string>();
  let seq = 0;
  let cancelFlush: (() => void) | null = null;
  let cancelAlive: (() => void) | null = null;

  function write(follower: Follower, message: OwnerMessage): void {
    if (!follower.stream.send(encoder.encode(formatMessage(message)))) follower.stream.close();
  }

  function broadcast(message: OwnerMessage): void {
    for (const follower of followers.values()) write(follower, message);
  }

  function remove(id: string): void {
    followers.delete(id);
    if (followers.size > 0) return;
    cancelFlush?.();
    cancelAlive?.();
    cancelFlush = cancelAlive = null;
    sent.clear();
    changed.clear();
  }

  function start(follower: Follower): void {
    write(follower, createHello(options));
    writeAll(follower);
    cancelAlive ??= schedule(keepAlive, aliveMs);
  }

  function writeAll(follower: Follower): void {
    const sessions = options.sessions().filter((session) => !isProbe(session));
    for (const session of sessions) remember(session);
    write(follower, {
      kind: "sessions",
      seq,
      sessions: sessions.map((session) => describeSession(session, clock().t, pending)),
    });
  }

  function keepAlive(): void {
    broadcast({ kind: "alive" });
    cancelAlive = schedule(keepAlive, aliveMs);
  }

  /** Returns null if the followers know the session as it is. */
  function remember(session: Session): DescribedSession | null {
    const described = describeSession(session, clock().t, pending);
    const text = JSON.stringify(described);
    const key = sessionKeyOf(session);
    if (sent.get(key) === text) return null;
    sent.set(key, text);
    const settlesT = findSettleTime(session, clock().t);
    if (settlesT !== null) {
      changed.add(key);
      schedule(flushSoon, settlesT - clock().t + 1);
    }
    return described;
  }

  function flushSoon(): void {
    if (followers.size > 0) cancelFlush ??= schedule(flush, gatherMs);
  }

  function flush(): void {
    cancelFlush = null;
    const keys = [...changed];
    changed.clear();
    for (const key of keys) {
      const ref = parseSessionKey(key);
      const session = ref && get(ref);
      const described = session && !isProbe(session) ? remember(session) : null;
      if (described) broadcast({ kind: "session", seq: ++seq, described });
    }
  }

  function onDeparted(key: string): void {
    const ref = parseSessionKey(key);
    if (!ref || !sent.delete(key)) return;
    const { agent, sessionId } = ref;
    broadcast({ kind: "gone", seq: ++seq, agent, sessionId });
  }

  function onAskEnded({ session, ask, how, where }: Extract<Transition, { kind: "ask-ended" }>): void {
    const { agent, sessionId, machine } = session;
    if (machine !== null) return;
    // The session without the ask first.
    flush();
    broadcast({ kind: "ask-ended", seq: ++seq, agent, sessionId, ask: ask.id, how, where });
  }

  return {
    connect(id, signal) {
      if (followers.size >= maxFollowers || id === "" || id.length > limits.maxIdLength)
        return new Response('{"error":"too many linked machines"}', { status: 503 });
      followers.get(id)?.stream.close();
      const stream = openResponseStream(signal, () => remove(id));
      const follower: Follower = { stream, name: "another machine" };
      followers.set(id, follower);
      start(follower);
      return new Response(stream.body, { headers: { "content-type": "application/jsonl" } });
    },
    take(id, line) {
      const follower = followers.get(id);
      if (!follower) return "this link is not open";
      const message = parseFollowerMessage(line);
      if (message === null) return null;
      if (typeof message === "string") return message;
      if (message.kind === "hello") {
        follower.name = takeStart(message.name, 60) || follower.name;
        return null;
      }
      if (message.kind === "everything") {
        writeAll(follower);
        return null;
      }
      act(message, follower.name, options)
        .catch((error): RequestOutcome => {
          options.onProblem(`a request of ${follower.name} failed: ${error}`);
          return { ok: false, status: 500, says: "beckon failed there: see its log" };
        })
        .then((outcome) => write(follower, { kind: "reply", to: message.id, outcome }));
      return null;
    },
    onChange({ session }) {
      if (followers.size === 0 || session.machine !== null) return;
      changed.add(sessionKeyOf(session));
      flushSoon();
    },
    onTransition(transition) {
      if (followers.size === 0) return;
      if (transition.kind === "departed") onDeparted(transition.key);
      if (transition.kind === "ask-ended") onAskEnded(transition);
    },
    onRefresh() {
      if (followers.size === 0) return;
      for (const session of options.sessions())
        if (session.asks.length > 0) changed.add(sessionKeyOf(session));
      flushSoon();
    },
    count: () => followers.size,
    stop() {
      for (const { stream } of [...followers.values()]) stream.close();
    },
  };
}

/** Without what only its own machine needs. Its paths would mean other files elsewhere. */
function shorten(session: Session): Session {
  const { place } = session;
  return {
    ...session,
    settled: true,
    tools: [],
    payloads: [],
    documents: [],
    transcriptPath: null,
    children: session.children.map((child) => ({ ...child, transcriptPath: null })),
    // A process that is not watched here is not watched by anybody.
    place: place && (place.local ? place : { ...place, pid: null }),
  };
}

/** The session as it stands at `t`, with everything that can be answered. */
function describeSession(
  session: Session,
  t: number,
  pending: Pick<PendingRequests, "details" | "maskedDetails">,
): DescribedSession {
  const settled = settle(session, t);
  const answerable = settled.asks.filter(isVisible).flatMap((ask) => {
    const details = pending.details(ask);
    const masked = pending.maskedDetails(ask);
    return details && masked
      ? [{ id: ask.id, answerId: answerIdOf(ask), details, masked } as DescribedAsk]
      : [];
  });
  return { session: { ...shorten(settled) }, answerable };
}

/** Does what the user of a linked machine wants, as if it were wanted here. */
async function act(
  message: FollowerRequest,
  name: string,
  { get, focus, pending }: Pick<PublisherOptions, "get" | "focus" | "pending">,
): Promise<RequestOutcome> {
  const session = get({ agent: message.agent, sessionId: message.sessionId });
  if (!session) return { ok: false, status: 404, says: "the session is not listed there any more" };
  if (message.kind === "focus") {
    const { result, why, login } = await focus(session);
    if (login !== undefined) return { ok: true, says: "selected", login };
    return result === "impossible" ? { ok: false, status: 409, says: why ?? "" } : { ok: true, says: result };
  }
  const { step } = message;
  const by = `${step.by ?? step.front} on ${name}`;
  const result = await pending.answer(session, message.answerId, message.answer as Answer, { ...step, by });
  if (typeof result === "string") return { ok: false, status: 400, says: result };
  if ("refused" in result) return { ok: false, status: result.refused, says: result.error };
  return { ok: true, says: result.answered };
}

function createHello({ machineId, agents, hasChannels, clock }: PublisherOptions): OwnerMessage {
  const { at, t } = clock();
  return {
    kind: "hello",
    protocol: protocolVersion,
    version,
    machineId,
    now: { at, t },
    agents: [...agents()],
    hasChannels: hasChannels(),
  };
}
