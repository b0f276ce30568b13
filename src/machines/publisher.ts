/**
 * Describes this machine's sessions to the machines that are linked to it, and does what their users ask for. Each linked machine
 * has one response that stays open (`GET /api/link`); what it asks comes in requests of its own (`POST /api/link/ID/message`), because
 * `beckon link` carries both over one pair of pipes.
 */
import { version } from "../../package.json";
import type { PendingRequests } from "../answers/pending.ts";
import { atOfGrowingId, createGrowingIds } from "../core/growing-ids.ts";
import type { Schedule, SessionChange, Transition } from "../core/interfaces/index.ts";
import type { PastSession } from "../core/interfaces/wire.ts";
import { limits } from "../core/limits.ts";
import type { Answer } from "../core/session/ask-details.ts";
import type { ClockReading } from "../core/session/event.ts";
import { answerIdOf } from "../core/session/keys.ts";
import { isProbe } from "../core/session/probe.ts";
import { isVisible, type Session } from "../core/session/session.ts";
import { parseSessionKey, type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import { findSettleTime, settle } from "../core/session/settle.ts";
import type { FocusOutcome } from "../core/terminals/terminal.ts";
import { truncateEnd } from "../core/text/text.ts";
import { dayMs, minuteMs } from "../core/timing.ts";
import { openResponseStream, type ResponseStream } from "../system/response-stream.ts";
import {
  type DescribedAsk,
  type DescribedPast,
  type DescribedSession,
  type FollowerMessage,
  type FollowerRequest,
  formatMessage,
  maxMirroredSessions,
  maxPastAsks,
  maxPastSpans,
  minProtocolVersion,
  type OwnerMessage,
  parseFollowerMessage,
  protocolVersion,
  type RequestOutcome,
} from "./protocol.ts";
import { createRateLimit, type RateLimit } from "./rate-limit.ts";

type FollowerHello = Extract<FollowerMessage, { kind: "hello" }>;

export interface PublisherOptions {
  readonly machineId: string;
  readonly agents: () => readonly string[];
  /** A channel is set up, and does not fail. */
  readonly hasChannels: () => boolean;
  readonly clock: () => ClockReading;
  /** This machine's own sessions. */
  readonly sessions: () => readonly Session[];
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly pending: Pick<PendingRequests, "details" | "maskedDetails" | "answer">;
  readonly focus: (session: Session) => Promise<FocusOutcome>;
  /** What the history has of this machine's sessions since then. */
  readonly findPast: (since: number) => Promise<readonly PastSession[]>;
  /** `SSH_CONNECTION` of the logins whose terminals show the session's pane. */
  readonly findLogins: (session: Session) => Promise<readonly string[]>;
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
  readonly id: string;
  readonly stream: ResponseStream;
  readonly rate: RateLimit;
  /** In the user's words; for the log of answers. */
  name: string;
  linkId: string | null;
  seesProbes: boolean;
  isGreeted: boolean;
  /** A list of all sessions is on its way to it, or will be in a moment. */
  isListing: boolean;
  requests: number;
}

/** Changes that follow each other within this time are described together. The first is described at once. */
const gatherMs = 15;
const aliveMs = 15_000;
const maxFollowers = 64;
/** A user makes some requests a minute. */
const maxMessagesPerSecond = 100;
const maxRequests = 8;
/** The least time between two lists of all sessions. */
const listMs = 1_000;
/** A message of several sessions gets no longer than this and one session. */
const partLength = 256 * 1024;
/** A session that takes more has requests that are too long to be answered elsewhere. */
const maxDescribedLength = 1024 * 1024;
/** A follower that has this much to read gets the rest of a list later. */
const pausedBytes = 2 * 1024 * 1024;
const pauseMs = 20;
/** What happened a little before the follower's last message is sent again: its history may not have it. */
const overlapMs = minuteMs;
const maxPastMs = 30 * dayMs;
const maxNameWidth = 60;
const maxLogins = 8;
const encoder = new TextEncoder();

export function createPublisher(options: PublisherOptions): Publisher {
  const { clock, schedule, pending, get } = options;
  const followers = new Map<string, Follower>();
  /** Hashes of what was sent of each session, by its key. */
  const sent = new Map<string, number | bigint>();
  const changed = new Set<string>();
  /** Sessions whose requests are too long, by their keys. */
  const reported = new Set<string>();
  const nextSeq = createGrowingIds(() => clock().at);
  let flushedT = Number.NEGATIVE_INFINITY;
  /** What the followers know of `hasChannels`. */
  let hadChannels = false;
  let cancelFlush: (() => void) | null = null;
  let cancelAlive: (() => void) | null = null;

  const sleep = (ms: number) => new Promise<void>((resolve) => void schedule(resolve, ms));
  const isOpen = (follower: Follower) => followers.get(follower.id) === follower;

  function write(follower: Follower, message: OwnerMessage): void {
    send(follower, encoder.encode(formatMessage(message)));
  }

  function send(follower: Follower, bytes: Uint8Array): void {
    if (!follower.stream.send(bytes)) follower.stream.close();
  }

  /** To those that see the session that it is about. */
  function broadcast(
    message: OwnerMessage,
    session: { readonly sessionId: string } | null,
    except: Follower | null = null,
  ): void {
    const bytes = encoder.encode(formatMessage(message));
    for (const follower of followers.values())
      if (follower !== except && (session === null || follower.seesProbes || !isProbe(session)))
        send(follower, bytes);
  }

  function remove(follower: Follower): void {
    if (isOpen(follower)) followers.delete(follower.id);
    if (followers.size > 0) return;
    cancelFlush?.();
    cancelAlive?.();
    cancelFlush = cancelAlive = null;
    sent.clear();
    changed.clear();
    reported.clear();
  }

  function publishChannels(): void {
    const areWorking = options.hasChannels();
    if (areWorking === hadChannels) return;
    hadChannels = areWorking;
    broadcast({ kind: "channels", areWorking }, null);
  }

  function greet(follower: Follower, hello: FollowerHello): void {
    const { protocol, name, linkId, resume } = hello;
    follower.name = truncateEnd(name, maxNameWidth) || follower.name;
    follower.seesProbes = hello.seesProbes === true;
    if (follower.isGreeted) return;
    follower.isGreeted = true;
    if (protocol < minProtocolVersion) {
      write(follower, {
        kind: "refused",
        says: `the beckon of ${follower.name} is too old for the one there`,
      });
      follower.stream.close();
      return;
    }
    for (const other of [...followers.values()])
      if (linkId !== undefined && other.linkId === linkId) other.stream.close();
    follower.linkId = linkId ?? null;
    if (resume?.machineId !== options.machineId) return;
    writeMissed(follower, resume.seq).catch((error) =>
      options.onProblem(`what ${follower.name} has missed could not be sent: ${error}`),
    );
  }

  /** When the history has found it: until then the follower has the sessions as they are now. */
  async function writeMissed(follower: Follower, seq: number): Promise<void> {
    const past = await options.findPast(findPastStart(seq, clock().at));
    const parts = splitByLength(past.map(shortenPast));
    for (const sessions of parts) {
      if (!(await hasRoom(follower))) return;
      write(follower, { kind: "missed", sessions });
    }
  }

  /** Waits until the follower has read most of what was sent. Resolves with false if it is gone. */
  async function hasRoom(follower: Follower): Promise<boolean> {
    while (isOpen(follower) && follower.stream.backlogBytes() > pausedBytes) await sleep(pauseMs);
    return isOpen(follower);
  }

  /** In parts, so that neither side needs room for all of it. What changes meanwhile is sent as always. */
  async function writeAll(follower: Follower): Promise<void> {
    follower.isListing = true;
    let part: DescribedSession[] = [];
    let length = 0;
    for (const ref of chooseSessions(options.sessions())) {
      const session = get(ref);
      if (!session) continue;
      const { described, ...own } = describe(session, follower);
      part.push(described);
      length += own.length;
      if (length < partLength) continue;
      write(follower, { kind: "sessions", seq: nextSeq(), sessions: part, isPart: true });
      part = [];
      length = 0;
      if (!(await hasRoom(follower))) return;
    }
    write(follower, { kind: "sessions", seq: nextSeq(), sessions: part });
    schedule(() => {
      follower.isListing = false;
    }, listMs);
  }

  function keepAlive(): void {
    const alive = encoder.encode(formatMessage({ kind: "alive" }));
    for (const follower of followers.values()) send(follower, alive);
    cancelAlive = schedule(keepAlive, aliveMs);
  }

  /** Describes the session as it is now, and sends that to the others if they know it differently. */
  function describe(session: Session, except: Follower | null) {
    const { t } = clock();
    const { described, text, tooLong } = describeWithin(session, t, pending);
    const key = sessionKeyOf(session);
    const hash = Bun.hash(text);
    if (sent.get(key) !== hash) {
      sent.set(key, hash);
      const settlesT = findSettleTime(session, t);
      if (settlesT !== null) {
        changed.add(key);
        schedule(flushSoon, settlesT - t + 1);
      }
      broadcast({ kind: "session", seq: nextSeq(), described }, session, except);
    }
    if (tooLong !== null && !reported.has(key)) {
      reported.add(key);
      options.onProblem(
        `what session ${session.sessionId} asks is too long for linked machines (${tooLong} characters): it can be answered only here`,
      );
    }
    return { described, length: text.length };
  }

  function flushSoon(): void {
    if (followers.size === 0) return;
    cancelFlush ??= schedule(flush, Math.max(0, flushedT + gatherMs - clock().t));
  }

  function flush(): void {
    cancelFlush?.();
    cancelFlush = null;
    flushedT = clock().t;
    const keys = [...changed];
    changed.clear();
    for (const key of keys) {
      const ref = parseSessionKey(key);
      const session = ref && get(ref);
      if (session) describe(session, null);
    }
  }

  function onDeparted(key: string): void {
    const ref = parseSessionKey(key);
    if (!ref || !sent.delete(key)) return;
    const { agent, sessionId } = ref;
    broadcast({ kind: "gone", seq: nextSeq(), agent, sessionId }, ref);
  }

  function onAskEnded({ session, ask, how, where }: Extract<Transition, { kind: "ask-ended" }>): void {
    const { agent, sessionId, machine } = session;
    if (machine !== null) return;
    // The session without the ask first. The answer log finds out before the change gets here.
    changed.add(sessionKeyOf(session));
    flush();
    broadcast({ kind: "ask-ended", seq: nextSeq(), agent, sessionId, ask: ask.id, how, where }, session);
  }

  function request(follower: Follower, message: FollowerRequest): void {
    const reply = (outcome: RequestOutcome) => write(follower, { kind: "reply", to: message.id, outcome });
    if (follower.requests >= maxRequests) {
      reply({ ok: false, status: 429, says: "too many requests wait for that machine: try again" });
      return;
    }
    follower.requests++;
    void act(message, follower.name, options)
      .catch((error): RequestOutcome => {
        options.onProblem(`a request of ${follower.name} failed: ${error}`);
        return { ok: false, status: 500, says: "beckon failed there: see its log" };
      })
      .then((outcome) => {
        follower.requests--;
        reply(outcome);
      });
  }

  function createFollower(id: string, signal: AbortSignal): Follower {
    const follower: Follower = {
      id,
      stream: openResponseStream(signal, () => remove(follower)),
      rate: createRateLimit(maxMessagesPerSecond, () =>
        options.onProblem(
          `${follower.name} sends more than ${maxMessagesPerSecond} messages a second: the rest is dropped`,
        ),
      ),
      name: "another machine",
      linkId: null,
      seesProbes: false,
      isGreeted: false,
      isListing: false,
      requests: 0,
    };
    return follower;
  }

  return {
    connect(id, signal) {
      if (followers.size >= maxFollowers || id === "" || id.length > limits.maxIdLength)
        return new Response('{"error":"too many linked machines"}', { status: 503 });
      followers.get(id)?.stream.close();
      publishChannels();
      const follower = createFollower(id, signal);
      followers.set(id, follower);
      write(follower, createHello(options));
      void writeAll(follower);
      cancelAlive ??= schedule(keepAlive, aliveMs);
      return new Response(follower.stream.body, { headers: { "content-type": "application/jsonl" } });
    },
    take(id, line) {
      const follower = followers.get(id);
      if (!follower) return "this link is not open";
      if (!follower.rate.take()) return "too many messages";
      const message = parseFollowerMessage(line);
      if (message === null) return null;
      if (typeof message === "string") return message;
      if (message.kind === "hello") greet(follower, message);
      else if (message.kind === "everything") {
        if (!follower.isListing) void writeAll(follower);
      } else request(follower, message);
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
      publishChannels();
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

/** From when on the history is read for a follower that got this message last. */
function findPastStart(seq: number, now: number): number {
  const at = atOfGrowingId(seq);
  // The clock was set back meanwhile: nothing is known about the order of what happened.
  if (at > now + overlapMs) return now - dayMs;
  return Math.max(at - overlapMs, now - maxPastMs);
}

/** Those that go on, then the newest. */
function chooseSessions(sessions: readonly Session[]): readonly Session[] {
  const own = sessions.filter((session) => !isProbe(session));
  if (own.length <= maxMirroredSessions) return own;
  const rank = ({ ended }: Session) => (ended ? 1 : 0);
  return own.toSorted((a, b) => rank(a) - rank(b) || b.last.at - a.last.at).slice(0, maxMirroredSessions);
}

/** Of a session with more, the newest are sent. */
function shortenPast(session: PastSession): DescribedPast {
  const asks = session.asks.slice(-maxPastAsks).map((ask) => ({ ...ask }));
  return { ...session, asks, spans: session.spans.slice(-maxPastSpans).map((span) => ({ ...span })) };
}

function splitByLength<Item>(items: readonly Item[]): Item[][] {
  const parts: Item[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const item of items) {
    if (length >= partLength) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)?.push(item);
    length += JSON.stringify(item).length;
  }
  return parts;
}

/** Without requests that are too long for a message: they are answered on their own machine. */
function describeWithin(
  session: Session,
  t: number,
  pending: Pick<PendingRequests, "details" | "maskedDetails">,
) {
  const whole = describeSession(session, t, pending);
  const text = JSON.stringify(whole);
  if (text.length <= maxDescribedLength) return { described: whole, text, tooLong: null };
  const described = { ...whole, answerable: [] };
  return { described, text: JSON.stringify(described), tooLong: text.length };
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
  { get, focus, findLogins, pending }: Pick<PublisherOptions, "get" | "focus" | "findLogins" | "pending">,
): Promise<RequestOutcome> {
  const session = get({ agent: message.agent, sessionId: message.sessionId });
  if (!session) return { ok: false, status: 404, says: "the session is not listed there any more" };
  if (message.kind === "look")
    return { ok: true, says: "seen", logins: (await findLogins(session)).slice(0, maxLogins) };
  if (message.kind === "focus") {
    const { result, why, login } = await focus(session);
    if (login !== undefined) {
      // tmux shows the pane to everybody who is attached, and the user of the linked machine may not be the last who was.
      const others = (await findLogins(session)).filter((other) => other !== login);
      const logins = login === null ? others : [login, ...others];
      return { ok: true, says: "selected", logins: logins.slice(0, maxLogins) };
    }
    return result === "impossible" ? { ok: false, status: 409, says: why ?? "" } : { ok: true, says: result };
  }
  const { step } = message;
  const by = `${truncateEnd(step.by ?? step.front, maxNameWidth)} on ${name}`;
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
