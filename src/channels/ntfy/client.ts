/**
 * The client of ntfy: publishes JSON, and reads answers from the stream of the reply topic. Buttons publish a reference there.
 * A message is replaced by publishing with the same sequence id (server 2.16 and newer; an older one shows a second message).
 */

import { readErrorMessage } from "../../core/error-message.ts";
import { rememberOnce } from "../../core/forget-oldest.ts";
import { asRecord, readString } from "../../core/json.ts";
import {
  type Channel,
  type ChannelMessage,
  type ChannelOptions,
  type ChannelReply,
  DeliveryError,
} from "../channel.ts";
import { readRetryAfterMs, request } from "../http.ts";
import { createLineStream } from "../line-stream.ts";
import { createBody, type NtfyTarget } from "./message.ts";

/** The server sends a keepalive every 45 s. */
const silenceMs = 100_000;
/** Answers that were published while beckon was not running are read, but no older ones. */
const maxMissedSeconds = 600;
const maxSeenIds = 200;
/** Anyone who can publish to the reply topic could otherwise make beckon publish all day. */
const refusalPauseMs = 10_000;

const refusal: ChannelMessage = {
  key: "",
  session: "",
  title: "beckon: your answer",
  lines: [],
  urgency: "low",
  buttons: [],
  replyReference: null,
  replyHint: null,
  isFinal: false,
  link: null,
};

export function openNtfy(options: ChannelOptions): Channel {
  const { settings, secret, state, onResponse } = options;
  const server = String(settings.server).replace(/\/+$/, "");
  const replyTopic = readString(settings.replyTopic);
  const target: NtfyTarget = {
    server,
    topic: String(settings.topic),
    replyTopic,
    replyToken: secret("replyToken"),
    click: readString(settings.click),
  };
  const token = secret("token");
  const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
  /** The stream can repeat messages after a reconnect. */
  const seenIds = new Set<string>();
  let refusedAt = Number.NEGATIVE_INFINITY;

  async function publish(message: ChannelMessage, sequenceId: string): Promise<void> {
    const response = await request(`${server}/`, {
      timeoutMs: options.requestTimeoutMs,
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: createBody(message, target, sequenceId).json,
    });
    if (response.ok) return;
    const { status } = response;
    const reason = asRecord(response.json).error;
    const hint =
      status === 401 || status === 403
        ? ". Check the access token, and whether it may write to the topic"
        : "";
    throw new DeliveryError(
      `ntfy answered ${status}${typeof reason === "string" ? ` (${reason.slice(0, 200)})` : ""}${hint}`,
      {
        retryAfterMs: readRetryAfterMs(response.headers),
        isPermanent: status >= 400 && status < 500 && status !== 408 && status !== 429,
      },
    );
  }

  /** ntfy has no other way to tell the sender. One quiet notification, which the next one replaces. */
  async function showRefusal({ text, isAccepted }: ChannelReply): Promise<void> {
    if (isAccepted || options.now() - refusedAt < refusalPauseMs) return;
    refusedAt = options.now();
    const message = { ...refusal, lines: [text] };
    await publish(message, "beckon-refusal").catch((error) => options.onProblem(readErrorMessage(error)));
  }

  const stream = createLineStream({
    schedule: options.schedule,
    silenceMs,
    name: "ntfy",
    onProblem: options.onProblem,
    headers,
    url() {
      const { since } = state.get();
      const start = readString(since) ?? `${maxMissedSeconds}s`;
      return `${server}/${replyTopic}/json?since=${encodeURIComponent(start)}`;
    },
    onLine(line) {
      const { id, event, message } = asRecord(JSON.parse(line));
      if (event !== "message" || typeof message !== "string" || typeof id !== "string") return;
      if (!rememberOnce(seenIds, id, maxSeenIds)) return;
      state.set({ since: id });
      const [reference = "", ...words] = message.trim().split(/\s+(?=[\s\S])/);
      const text = words.length === 0 ? null : message.trim().slice(reference.length).trim();
      void onResponse({ reference, account: "", accountId: "", text }).then(showRefusal);
    },
  });

  return {
    async send(message, id) {
      await publish(message, id);
      return id;
    },
    update: (handle, message) => publish(message, handle),
    ...(replyTopic === null ? {} : { listen: stream.start }),
    stop: stream.stop,
    problem: stream.problem,
  };
}
