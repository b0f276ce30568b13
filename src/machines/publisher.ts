/**
 * Describes this machine's sessions to the machines that are linked to it, and does what their users ask for. Each linked machine
 * has one response that stays open (`GET /api/link`); what it asks comes in requests of its own (`POST /api/link/ID/message`), because
 * `beckon link` carries both over one pair of pipes.
 */
import { version } from "../../package.json";
import type { PendingRequests } from "../answers/pending.ts";
import type { Schedule, SessionChange, Transition } from "../core/interfaces/index.ts";
import type { PastSession } from "../core/interfaces/wire.ts";
import { limits } from "../core/limits.ts";
import type { Answer } from "../core/session/ask-details.ts";
import type { ClockReading } from "../core/session/event.ts";
import { isProbe } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import type { SessionRefLike } from "../core/session/session-ref.ts";
import type { FocusOutcome } from "../core/terminals/terminal.ts";
import { truncateEnd } from "../core/text/text.ts";
import { openResponseStream } from "../system/response-stream.ts";
import {
  type FollowerMessage,
  type FollowerRequest,
  formatMessage,
  minProtocolVersion,
  type OwnerMessage,
  parseFollowerMessage,
  protocolVersion,
  type RequestOutcome,
} from "./protocol.ts";
import { createRateLimit } from "./rate-limit.ts";
import { createListWriter, type FollowingMachine } from "./session-lists.ts";
import { createSessionNews } from "./session-news.ts";

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
  stop(): void;
}

const aliveMs = 15_000;
const maxFollowers = 64;
/** A user makes some requests a minute. */
const maxMessagesPerSecond = 100;
const maxRequests = 8;
const maxNameWidth = 60;
const maxLogins = 8;
const encoder = new TextEncoder();

export function createPublisher(options: PublisherOptions): Publisher {
  const { schedule } = options;
  const followers = new Map<string, FollowingMachine>();
  const news = createSessionNews<FollowingMachine>({
    ...options,
    isFollowed: () => followers.size > 0,
    tell: broadcast,
  });
  /** What the followers know of `hasChannels`. */
  let hadChannels = false;
  let cancelAlive: (() => void) | null = null;

  const isOpen = (follower: FollowingMachine) => followers.get(follower.id) === follower;
  const lists = createListWriter({ ...options, news, write, isOpen });

  function write(follower: FollowingMachine, message: OwnerMessage): void {
    send(follower, encoder.encode(formatMessage(message)));
  }

  function send(follower: FollowingMachine, bytes: Uint8Array): void {
    if (!follower.stream.send(bytes)) follower.stream.close();
  }

  /** To those that see the session that it is about. */
  function broadcast(
    message: OwnerMessage,
    session: { readonly sessionId: string } | null,
    except: FollowingMachine | null = null,
  ): void {
    const bytes = encoder.encode(formatMessage(message));
    for (const follower of followers.values())
      if (follower !== except && (session === null || follower.seesProbes || !isProbe(session)))
        send(follower, bytes);
  }

  function remove(follower: FollowingMachine): void {
    if (isOpen(follower)) followers.delete(follower.id);
    if (followers.size > 0) return;
    cancelAlive?.();
    cancelAlive = null;
    news.clear();
  }

  function publishChannels(): void {
    const areWorking = options.hasChannels();
    if (areWorking === hadChannels) return;
    hadChannels = areWorking;
    broadcast({ kind: "channels", areWorking }, null);
  }

  function greet(follower: FollowingMachine, hello: FollowerHello): void {
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
    lists
      .writeMissed(follower, resume.seq)
      .catch((error) => options.onProblem(`what ${follower.name} has missed could not be sent: ${error}`));
  }

  function keepAlive(): void {
    const alive = encoder.encode(formatMessage({ kind: "alive" }));
    for (const follower of followers.values()) send(follower, alive);
    cancelAlive = schedule(keepAlive, aliveMs);
  }

  function request(follower: FollowingMachine, message: FollowerRequest): void {
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

  return {
    connect(id, signal) {
      if (followers.size >= maxFollowers || id === "" || id.length > limits.maxIdLength)
        return new Response('{"error":"too many linked machines"}', { status: 503 });
      followers.get(id)?.stream.close();
      publishChannels();
      const follower = openFollower(id, signal, remove, options.onProblem);
      followers.set(id, follower);
      write(follower, createHello(options));
      void lists.writeAll(follower);
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
        if (!follower.isListing) void lists.writeAll(follower);
      } else request(follower, message);
      return null;
    },
    onChange({ session }) {
      if (followers.size === 0 || session.machine !== null) return;
      news.onChange(session);
    },
    onTransition(transition) {
      if (followers.size === 0) return;
      if (transition.kind === "departed") news.onDeparted(transition.key);
      if (transition.kind === "ask-ended" && transition.session.machine === null) news.onAskEnded(transition);
    },
    onRefresh() {
      if (followers.size === 0) return;
      publishChannels();
      for (const session of options.sessions()) if (session.asks.length > 0) news.onChange(session);
    },
    stop() {
      for (const { stream } of [...followers.values()]) stream.close();
    },
  };
}

function openFollower(
  id: string,
  signal: AbortSignal,
  onEnd: (follower: FollowingMachine) => void,
  onProblem: (text: string) => void,
): FollowingMachine {
  const follower: FollowingMachine = {
    id,
    stream: openResponseStream(signal, () => onEnd(follower)),
    rate: createRateLimit(maxMessagesPerSecond, () =>
      onProblem(
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
