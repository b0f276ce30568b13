/**
 * Slack's Web API and incoming webhooks, with fetch: @slack/web-api and @slack/socket-mode together took 13 MB of memory and
 * 23 ms to load, for four methods.
 */
import { asRecord, type JsonRecord } from "../../core/json.ts";
import { truncate } from "../../core/text/truncate.ts";
import { createAccountList } from "../accounts.ts";
import { type Channel, type ChannelOptions, DeliveryError } from "../channel.ts";
import { findStatusError, request } from "../http.ts";
import { createReplyTargets } from "../reply-targets.ts";
import { createResponseQueue } from "../response-queue.ts";
import { escapeText, formatMessage, plainText } from "./message.ts";
import { createSocket, type SlackResponse } from "./socket.ts";

export function openSlack(options: ChannelOptions): Channel {
  return options.settings.channel === null ? openWebhook(options) : openBot(options);
}

const name = "Slack";
const jsonHeaders = { "Content-Type": "application/json; charset=utf-8" };

/** A message that came through a webhook cannot be changed. */
function openWebhook({ secret, requestTimeoutMs }: ChannelOptions): Channel {
  const url = secret("webhookUrl");
  const missing = "neither the address of a webhook nor a channel is set for Slack";
  return {
    async send(message) {
      if (url === null) throw new DeliveryError(missing, { isPermanent: true });
      const response = await request(url, {
        method: "POST",
        headers: jsonHeaders,
        body: JSON.stringify(formatMessage({ ...message, buttons: [], replyHint: null })),
        timeoutMs: requestTimeoutMs,
      });
      // "no_service", "channel_is_archived"
      const reason = /^\w{1,60}$/.test(response.text) ? explainError(response.text) : null;
      const error = findStatusError(name, response, reason);
      if (error) throw error;
      // Rocket.Chat, which takes the same messages, answers {"success": true}.
      if (response.text.trim() !== "ok" && asRecord(response.json).success !== true)
        throw new DeliveryError("Slack's answer makes no sense", { isUncertain: true });
      return "sent";
    },
    async stop() {},
    problem: () => (url === null ? missing : null),
  };
}

/** Slack's own words: "some aspect of the operation may have succeeded". */
const uncertainErrors: ReadonlySet<string> = new Set(["internal_error", "fatal_error"]);
const passingErrors: ReadonlySet<string> = new Set([
  ...uncertainErrors,
  "ratelimited",
  "rate_limited",
  "service_unavailable",
  "request_timeout",
  "team_added_to_org",
]);

const explanations: Readonly<Record<string, string>> = {
  invalid_auth: "the token is not valid (invalid_auth)",
  not_authed: "the token is not valid (not_authed)",
  token_revoked: "the token was revoked (token_revoked)",
  token_expired: "the token has expired (token_expired)",
  account_inactive: "the token's bot was removed (account_inactive)",
  missing_scope: "the app lacks a permission (missing_scope). Add chat:write, then install the app again",
  channel_not_found:
    "the channel does not exist, or the bot is not in it (channel_not_found). In Slack: /invite the app",
  not_in_channel: "the bot is not in the channel (not_in_channel). In Slack: /invite the app",
  is_archived: "the channel is archived (is_archived)",
  channel_is_archived: "the channel is archived (channel_is_archived)",
  no_service: "the webhook was removed (no_service)",
  not_allowed_token_type: "this is not the right kind of token (not_allowed_token_type)",
};

const explainError = (error: string): string =>
  Object.hasOwn(explanations, error) ? (explanations[error] ?? error) : error;

class SlackRefusal extends DeliveryError {
  readonly code: string;
  constructor(code: string) {
    super(`Slack refused it: ${explainError(code)}`, {
      isPermanent: !passingErrors.has(code),
      isUncertain: uncertainErrors.has(code),
    });
    this.code = code;
  }
}

/** A message that the user deleted, or that may no longer be edited, needs no update. */
const goneErrors: ReadonlySet<string> = new Set([
  "message_not_found",
  "cant_update_message",
  "edit_window_closed",
]);

/** Calls of one method, with the token in the header, never in the address. */
type CallSlack = (method: string, token: string, body: JsonRecord) => Promise<JsonRecord>;

function createCall({ settings, requestTimeoutMs }: ChannelOptions): CallSlack {
  const base = String(settings.apiUrl).replace(/\/+$/, "");
  return async (method, token, body) => {
    const response = await request(`${base}/${method}`, {
      method: "POST",
      headers: { ...jsonHeaders, Authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
      timeoutMs: requestTimeoutMs,
    });
    const error = findStatusError(name, response);
    if (error) throw error;
    const answer = asRecord(response.json);
    if (answer.ok === true) return answer;
    const code = typeof answer.error === "string" ? truncate(answer.error, 60) : null;
    if (code === null) throw new DeliveryError("Slack's answer makes no sense", { isUncertain: true });
    throw new SlackRefusal(code);
  };
}

function openBot(options: ChannelOptions): Channel {
  const { settings, secret, state, onResponse, onProblem } = options;
  const call = createCall(options);
  const responses = createResponseQueue();
  const accounts = createAccountList(settings.accounts, options.now);
  const [botToken, appToken] = [secret("botToken"), secret("appToken")];
  const missing =
    botToken === null
      ? "the bot's token for Slack is not set"
      : options.isAnswering && appToken === null
        ? "the app-level token for Slack is not set, so no answers arrive"
        : null;
  const replyTargets = createReplyTargets(state);

  async function post(method: string, body: JsonRecord): Promise<JsonRecord> {
    if (botToken === null) throw new DeliveryError(missing ?? "", { isPermanent: true });
    return call(method, botToken, body);
  }

  async function answer({ channel, thread, message, ...response }: SlackResponse): Promise<void> {
    const reference = response.reference ?? replyTargets.find(`${channel}/${thread}`);
    // A reply in a thread that is not about an open ask.
    if (reference === undefined) return;
    const { account, accountId, text: reply } = response;
    // People may talk in the thread of a message. They need not be told again and again that they may not answer.
    if (reply !== null && !accounts.has(accountId) && !accounts.isDueForRefusal(accountId)) return;
    const handle = isId(channel) && isTimestamp(message) ? { handle: `${channel}/${message}` } : {};
    const { text } = await onResponse({ reference, account, accountId, text: reply, ...handle });
    await post("chat.postEphemeral", {
      channel,
      user: accountId,
      text: escapeText(text),
      ...(thread === null ? {} : { thread_ts: thread }),
      ...plainText,
    });
  }

  const socket =
    appToken === null
      ? null
      : createSocket({
          ...options,
          open: () => call("apps.connections.open", appToken, {}),
          isLocal: String(settings.apiUrl).startsWith("http:"),
          onResponse: (response) =>
            responses.start(() =>
              answer(response).catch((error) =>
                onProblem(
                  `the sender could not be answered: ${error instanceof Error ? error.message : error}`,
                ),
              ),
            ),
        });

  return {
    async send(message) {
      const { channel, ts } = await post("chat.postMessage", {
        channel: settings.channel,
        ...formatMessage(message),
      });
      if (!isId(channel) || !isTimestamp(ts))
        throw new DeliveryError("Slack's answer does not name the message", { isUncertain: true });
      const handle = `${channel}/${ts}`;
      replyTargets.remember(handle, message);
      return handle;
    },
    async update(handle, message) {
      const [channel, ts] = handle.split("/");
      if (!isId(channel) || !isTimestamp(ts)) return;
      replyTargets.remember(handle, message);
      await post("chat.update", { channel, ts, ...formatMessage(message) }).catch((error) => {
        if (!(error instanceof SlackRefusal && goneErrors.has(error.code))) throw error;
      });
    },
    ...(socket ? { listen: socket.start } : {}),
    stop: async () => socket?.stop(),
    problem: () => missing ?? (options.isAnswering ? (socket?.problem() ?? null) : null),
  };
}

const isId = (value: unknown): value is string => typeof value === "string" && /^[A-Z0-9]{1,40}$/.test(value);
const isTimestamp = (value: unknown): value is string =>
  typeof value === "string" && /^\d{1,20}\.\d{1,10}$/.test(value);
