/**
 * Socket Mode: Slack sends taps and replies in envelopes through a WebSocket that beckon opens. Every envelope is acknowledged
 * within 3 seconds, or Slack sends it again. Slack closes each connection after some hours, and announces it.
 */

import { rememberOnce } from "../../core/forget-oldest.ts";
import type { Schedule } from "../../core/interfaces/index.ts";
import { asRecord, type JsonRecord, parseJson, readString } from "../../core/json.ts";
import { type Attempt, ConnectionError } from "../../system/keep-connected.ts";
import { schedule as scheduleTimer } from "../../system/schedule.ts";
import { isSocketAddress } from "../check.ts";
import { createListener, type Listener, listenerBackoff } from "../listener.ts";

/** A tap, or a text in reply to a message. */
export interface SlackResponse {
  /** Of a tap; undefined for a text. */
  readonly reference: string | undefined;
  readonly text: string | null;
  readonly channel: string;
  /** The message that is replied to; null for a tap outside of a thread. */
  readonly thread: string | null;
  /** The message of a tapped button; null for a text. */
  readonly message: string | null;
  readonly account: string;
  readonly accountId: string;
}

export interface SocketOptions {
  /** Calls apps.connections.open. */
  readonly open: () => Promise<JsonRecord>;
  /** The API is on this machine, and so may the socket be, without TLS. */
  readonly isLocal: boolean;
  readonly onResponse: (response: SlackResponse) => void;
  readonly onProblem: (text: string) => void;
  readonly schedule?: Schedule | undefined;
}

/** How long a new connection may take to send its first message. */
const helloTimeoutMs = 15_000;
const pingMs = 15_000;
const maxMessageLength = 1024 * 1024;
const maxRememberedEnvelopes = 1_000;

export function createSocket(options: SocketOptions): Listener {
  const { schedule = scheduleTimer, onProblem } = options;
  /** The one in use. */
  let current: WebSocket | null = null;
  const open = new Set<WebSocket>();
  /** Ids of envelopes and events that were taken. */
  const envelopes = new Set<string>();

  const listener = createListener({
    connect,
    backoff: listenerBackoff,
    formatProblem: (reason) => `no connection for answers from Slack: ${reason}`,
    onProblem,
    schedule,
  });

  async function connect(attempt: Attempt): Promise<void> {
    const url = checkSocketUrl((await options.open()).url, options.isLocal);
    // A compressed message of some KB can be a GB.
    if (!attempt.signal.aborted) await follow(new WebSocket(url, { perMessageDeflate: false }), attempt);
  }

  /** Resolves when Slack announces that it will close the connection, which stays in use until the next one is ready. */
  function follow(socket: WebSocket, { signal, setDeadline, onConnected }: Attempt): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let isReady = false;
    let hasSign = true;
    let cancelCheck = () => {};

    function end(reason: string): void {
      cancelCheck();
      open.delete(socket);
      socket.terminate();
      if (current === socket) current = null;
      reject(new ConnectionError(reason));
    }

    function checkLater(): void {
      cancelCheck = schedule(() => {
        // Not even the last ping was answered: a laptop that slept, a network that changed.
        if (!hasSign) return end("it went silent");
        hasSign = false;
        if (socket.readyState === WebSocket.OPEN) socket.ping();
        checkLater();
      }, pingMs);
    }

    function onReady(): void {
      if (isReady) return;
      isReady = true;
      setDeadline(null);
      onConnected();
      current?.close();
      current = socket;
      checkLater();
    }

    open.add(socket);
    setDeadline({ ms: helloTimeoutMs, error: new ConnectionError("it sent no greeting") });
    signal.addEventListener("abort", () => end("it was given up"));
    const onSign = () => {
      hasSign = true;
    };
    for (const type of ["message", "ping", "pong"]) socket.addEventListener(type as "message", onSign);
    socket.addEventListener("close", () => end("Slack closed the connection"));
    socket.addEventListener("error", () => end("the connection broke"));
    socket.addEventListener("message", ({ data }) => {
      if (!open.has(socket) || typeof data !== "string" || data.length > maxMessageLength) return;
      const message = asRecord(parseJson(data));
      if (message.type === "hello") onReady();
      else if (message.type === "disconnect" && message.reason === "link_disabled")
        end("Socket Mode is turned off for the app");
      else if (message.type === "disconnect") resolve();
      else if (typeof message.envelope_id === "string") take(message.envelope_id, message, socket);
    });
    return promise;
  }

  function take(id: string, message: JsonRecord, socket: WebSocket): void {
    socket.send(JSON.stringify({ envelope_id: id }));
    // An event that is sent again can come in another envelope.
    const { event_id } = asRecord(message.payload);
    const key = readString(event_id) ?? id;
    if (!rememberOnce(envelopes, key, maxRememberedEnvelopes)) return;
    const response = parseEnvelope(message);
    if (response) options.onResponse(response);
  }

  return {
    ...listener,
    async stop() {
      // A request for the next address may take its time.
      void listener.stop();
      for (const socket of open) socket.terminate();
      open.clear();
      current = null;
    },
  };
}

function checkSocketUrl(value: unknown, isLocal: boolean): string {
  if (!isSocketAddress(value, isLocal)) throw new Error("Slack named no address that begins with wss://");
  return new URL(value).href;
}

const readId = (value: unknown): string =>
  typeof value === "string" && /^[\w.-]{1,64}$/.test(value) ? value : "";

/** Null if the envelope is neither a tap on a button nor a text that a user wrote in a thread. */
function parseEnvelope({ type, payload }: JsonRecord): SlackResponse | null {
  const content = asRecord(payload);
  if (type === "interactive" && content.type === "block_actions") return parseTap(content);
  if (type === "events_api") return parseReply(asRecord(content.event));
  return null;
}

function parseTap(payload: JsonRecord): SlackResponse | null {
  const user = asRecord(payload.user);
  const container = asRecord(payload.container);
  const [action] = Array.isArray(payload.actions) ? payload.actions.map(asRecord) : [];
  const [accountId, channel] = [readId(user.id), readId(container.channel_id)];
  // The button with a link has no value.
  if (typeof action?.value !== "string" || accountId === "" || channel === "") return null;
  const userName = readId(user.username) || readId(user.name);
  return {
    reference: action.value,
    text: null,
    channel,
    thread: readId(container.thread_ts) || null,
    message: readId(container.message_ts) || null,
    account: userName === "" ? accountId : `@${userName}`,
    accountId,
  };
}

/** Messages with a subtype are edits, deletions and messages of apps. */
function parseReply({
  type,
  subtype,
  bot_id,
  user,
  text,
  channel,
  thread_ts,
}: JsonRecord): SlackResponse | null {
  if (type !== "message" || subtype !== undefined || bot_id !== undefined || typeof text !== "string")
    return null;
  const [accountId, channelId, thread] = [readId(user), readId(channel), readId(thread_ts)];
  if (accountId === "" || channelId === "" || thread === "") return null;
  return {
    reference: undefined,
    text: decodeText(text),
    channel: channelId,
    thread,
    message: null,
    account: accountId,
    accountId,
  };
}

/** Slack escapes three characters in what users write, and puts links into <…>. */
const decodeText = (text: string): string =>
  text
    .replaceAll(/<((?:https?|mailto):[^|>]+)(?:\|[^>]*)?>/g, "$1")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
