import type { PendingRequests } from "../answers/pending.ts";
import type { Schedule, SessionChange, Transition } from "../core/interfaces/index.ts";
import type { PastSession } from "../core/interfaces/wire.ts";
import { limits } from "../core/limits.ts";
import { isProbe } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import { truncateEnd } from "../core/text/text.ts";
import { openResponseStream } from "../system/response-stream.ts";
import {
  type FollowerMessage,
  type FollowerRequest,
  formatMessage,
  minProtocolVersion,
  type OwnerMessage,
  parseFollowerMessage,
  type RequestOutcome,
} from "./protocol.ts";
import { createRateLimit } from "./rate-limit.ts";
import {
  type AskedOptions,
  actFor,
  createHello,
  type HelloOptions,
  maxMessagesPerSecond,
  maxNameWidth,
  maxRequests,
} from "./requests.ts";
import { createListWriter, type FollowingMachine } from "./session-lists.ts";
import { createSessionNews } from "./session-news.ts";

type FollowerHello = Extract<FollowerMessage, { kind: "hello" }>;

export interface PublisherOptions extends AskedOptions, HelloOptions {
  /** This machine's own sessions. */
  readonly sessions: () => readonly Session[];
  readonly pending: Pick<PendingRequests, "details" | "maskedDetails" | "answer">;
  /** What the history has of this machine's sessions since then. */
  readonly findPast: (since: number) => Promise<readonly PastSession[]>;
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
    void actFor(message, follower.name, options)
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
      if (transition.kind === "ask-opened" && transition.session.machine === null)
        news.onAskOpened(transition.session);
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
