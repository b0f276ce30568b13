/** The client of Discord: messages and threads through @discordjs/rest, taps through the gateway. */

import { createHash } from "node:crypto";
import { DiscordAPIError, HTTPError, RateLimitError, REST } from "@discordjs/rest";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";
import { rememberOnce } from "../../core/forget-oldest.ts";
import { asList, asText, isRecord, type JsonRecord } from "../../core/json.ts";
import { truncate } from "../../core/text/truncate.ts";
import { schedule as scheduleTimer } from "../../system/schedule.ts";
import { createAccountList } from "../accounts.ts";
import { type Channel, type ChannelMessage, type ChannelOptions, DeliveryError } from "../channel.ts";
import { createLibraryFetch } from "../library-fetch.ts";
import { createResponseQueue } from "../response-queue.ts";
import { createSessionFeed } from "./feed.ts";
import { createGateway } from "./gateway.ts";
import { createFittingContent } from "./text.ts";

const defaultRequestMs = 10_000;
const noMentions = { parse: [] } as const;
const suppressEmbeds = 1 << 2;
const suppressNotifications = 1 << 12;
const ephemeral = 1 << 6;
const buttonStyles = { allow: 3, deny: 4, plain: 2 } as const;
const linkStyle = 5;
const maxLabelLength = 80;
const maxButtonsPerRow = 5;
const maxReplyLength = 4_000;
/** In front of the reference of the button that asks for a text. */
const textPrefix = "text:";
const maxSeenInteractions = 500;

const interactionTypes = { button: 3, dialog: 5 } as const;
const responseTypes = { later: 5, dialog: 9 } as const;

/** Discord's codes of errors. */
const unknownMessage = 10008;
const threadExists = 160004;

const idSchema = Type.Object({ id: Type.String() });
const userSchema = Type.Object({ id: Type.String(), username: Type.Optional(Type.String()) });
const interactionSchema = Type.Object({
  id: Type.String(),
  application_id: Type.String(),
  token: Type.String(),
  type: Type.Integer(),
  data: Type.Object({ custom_id: Type.String(), components: Type.Optional(Type.Unknown()) }),
  user: Type.Optional(userSchema),
  member: Type.Optional(Type.Object({ user: userSchema })),
});

type Interaction = Static<typeof interactionSchema>;

export function openDiscord(options: ChannelOptions): Channel {
  return options.secret("token") === null ? openWebhook(options) : openBot(options);
}

/** What both ways of sending need: requests, and their failures as DeliveryErrors. */
function createClient(
  { settings, secret, requestTimeoutMs = defaultRequestMs }: ChannelOptions,
  server?: string,
) {
  const token = secret("token");
  const rest = new REST({
    version: "10",
    api: server ?? String(settings.server).replace(/\/+$/, ""),
    makeRequest: createLibraryFetch(requestTimeoutMs) as never,
    timeout: 2 * requestTimeoutMs,
    // The queue of the channel repeats what failed, and keeps what is still worth sending.
    retries: 0,
    rejectOnRateLimit: () => true,
    offset: 0,
    // Their timers would keep beckon from ending.
    hashSweepInterval: 0,
    handlerSweepInterval: 0,
  });

  return async function call<Schema extends TSchema>(
    method: "get" | "post" | "patch",
    route: string,
    {
      body,
      auth = true,
      schema,
    }: { readonly body?: JsonRecord; readonly auth?: boolean; readonly schema?: Schema } = {},
  ): Promise<Static<Schema>> {
    // The library forgets a token that was refused once.
    if (auth && token !== null) rest.setToken(token);
    try {
      const [path = "", query = ""] = route.split("?");
      const result = await rest[method](path as `/${string}`, {
        ...(body === undefined ? {} : { body }),
        ...(query === "" ? {} : { query: new URLSearchParams(query) }),
        auth,
      });
      if (schema && !Check(schema, result))
        throw new DeliveryError("the answer of the server is not valid", { isUncertain: true });
      return result as Static<Schema>;
    } catch (error) {
      throw toDeliveryError(error);
    }
  };
}

type Call = ReturnType<typeof createClient>;

function openWebhook(options: ChannelOptions): Channel {
  const address = options.secret("webhook") ?? "";
  const [, server, path] = /^(.*?)(?:\/v\d+)?(\/webhooks\/\d+\/[\w-]+)$/.exec(address) ?? [];
  if (server === undefined || path === undefined)
    throw new DeliveryError("neither a bot token nor a webhook address is set", { isPermanent: true });
  const call = createClient(options, server);
  return {
    async send(message) {
      const body = createBody({ ...message, buttons: [], replyReference: null, replyHint: null });
      return (await call("post", `${path}?wait=true`, { body, auth: false, schema: idSchema })).id;
    },
    async update(handle, message) {
      const { flags, ...body } = createBody({
        ...message,
        buttons: [],
        replyReference: null,
        replyHint: null,
      });
      await ignoreGone(call("patch", `${path}/messages/${handle}`, { body, auth: false }));
    },
    stop: async () => {},
    problem: () => null,
  };
}

function openBot(options: ChannelOptions): Channel {
  const { settings, secret, state, onProblem } = options;
  const call = createClient(options);
  const accounts = createAccountList(settings.accounts, options.now);
  const schedule = options.schedule ?? scheduleTimer;
  const seenInteractions = new Set<string>();
  const responses = createResponseQueue();
  const gateway = createGateway({
    token: secret("token") ?? "",
    findGateway: () => call("get", "/gateway/bot"),
    isLocal: String(settings.server).startsWith("http:"),
    onDispatch(type, data) {
      if (type === "INTERACTION_CREATE" && Check(interactionSchema, data)) startHandling(data);
    },
    onProblem: (text) => onProblem(`Discord: ${text}`),
    schedule,
  });
  const feed = createSessionFeed({
    settings,
    state,
    schedule,
    now: options.now,
    onProblem: (text) => onProblem(`Discord: ${text}`),
    readLastResponse: options.readLastResponse ?? (async () => null),
    createThread: (channel, text, name, nonce) => createThread(call, channel, text, name, nonce),
    async post(channel, content, nonce) {
      await call("post", `/channels/${channel}/messages`, {
        body: addNonce(createPlainBody(content), nonce),
      });
    },
  });

  async function findDestination(folder: string | null): Promise<string> {
    const channel = feed.findChannel(folder) ?? settings.channel;
    if (typeof channel === "string") return channel;
    const user = accounts.first;
    if (user === null)
      throw new DeliveryError("neither a channel nor an account is set", { isPermanent: true });
    const { directChannel } = state.get();
    if (isRecord(directChannel) && directChannel.user === user && typeof directChannel.id === "string")
      return directChannel.id;
    const { id } = await call("post", "/users/@me/channels", {
      body: { recipient_id: user },
      schema: idSchema,
    });
    state.set({ ...state.get(), directChannel: { user, id } });
    return id;
  }

  function startHandling(interaction: Interaction): void {
    // A resumed connection can repeat one.
    if (!rememberOnce(seenInteractions, interaction.id, maxSeenInteractions)) return;
    responses.start(() =>
      handle(interaction).catch((error) =>
        onProblem(`Discord: a response was not confirmed: ${toDeliveryError(error).message}`),
      ),
    );
  }

  async function handle(interaction: Interaction): Promise<void> {
    const user = interaction.member?.user ?? interaction.user;
    if (!user) return;
    const { type, data } = interaction;
    const isDialog = type === interactionTypes.dialog;
    if (!isDialog && type !== interactionTypes.button) return;
    const wantsText = data.custom_id.startsWith(textPrefix);
    const reference = wantsText ? data.custom_id.slice(textPrefix.length) : data.custom_id;
    const isListed = accounts.has(user.id);
    if (wantsText && !isDialog && isListed) return openDialog(interaction);
    const text = isDialog ? findDialogText(data.components) : null;
    // Discord wants an answer within 3 seconds, which a decision can take.
    const confirmed = respond(interaction, { type: responseTypes.later, data: { flags: ephemeral } });
    const [reply] = await Promise.all([
      options.onResponse({
        reference,
        account: user.username === undefined ? user.id : `@${user.username}`,
        accountId: user.id,
        text,
      }),
      confirmed,
    ]);
    await call("patch", `/webhooks/${interaction.application_id}/${interaction.token}/messages/@original`, {
      body: createPlainBody(reply.text),
      auth: false,
    });
  }

  function openDialog(interaction: Interaction): Promise<void> {
    const input = {
      type: 4,
      custom_id: "text",
      style: 2,
      label: "Your text",
      max_length: maxReplyLength,
      required: true,
    };
    const data = {
      custom_id: interaction.data.custom_id,
      title: "Reply",
      components: [{ type: 1, components: [input] }],
    };
    return respond(interaction, { type: responseTypes.dialog, data });
  }

  async function respond({ id, token }: Interaction, body: JsonRecord): Promise<void> {
    await call("post", `/interactions/${id}/${token}/callback`, { body, auth: false });
  }

  return {
    async send(message, id) {
      const channel = await findDestination(message.folder ?? null);
      const body = addNonce(createBody(message), id);
      const sent = await call("post", `/channels/${channel}/messages`, { body, schema: idSchema });
      return `${channel}/${sent.id}`;
    },
    async update(handle, message) {
      const [channel, id] = handle.split("/");
      // Flags of a message cannot be changed to silent later.
      const { flags, ...body } = createBody(message);
      await ignoreGone(call("patch", `/channels/${channel}/messages/${id}`, { body }));
    },
    listen: gateway.start,
    onOpened: feed.onOpened,
    onChange: feed.onChange,
    onTransition: feed.onTransition,
    async stop() {
      // A request for its address may take its time.
      void gateway.stop();
      await Promise.allSettled([responses.finish(), feed.stop()]);
    },
    problem: () => (options.isAnswering ? gateway.problem() : null),
  };
}

/** A message can have one thread, with the id of the message. So this can be repeated, and makes one thread. */
async function createThread(
  call: Call,
  channel: string,
  text: string,
  name: string,
  nonce: string,
): Promise<string> {
  const body = addNonce(createPlainBody(text), nonce);
  const { id } = await call("post", `/channels/${channel}/messages`, { body, schema: idSchema });
  try {
    await call("post", `/channels/${channel}/messages/${id}/threads`, { body: { name } });
  } catch (error) {
    if (!hasCode(error, threadExists)) throw error;
  }
  return id;
}

const createPlainBody = (content: string): JsonRecord => ({
  content,
  allowed_mentions: noMentions,
  flags: suppressEmbeds,
});

/** Within some minutes, Discord answers a second message with the same nonce with the first one. */
const addNonce = (body: JsonRecord, id: string): JsonRecord => ({
  ...body,
  nonce: createHash("sha256").update(id).digest("base64url").slice(0, 25),
  enforce_nonce: true,
});

function createBody(message: ChannelMessage): JsonRecord {
  const isQuiet = message.urgency === "low" || message.isFinal;
  return {
    ...createPlainBody(createFittingContent(message)),
    flags: suppressEmbeds | (isQuiet ? suppressNotifications : 0),
    components: message.isFinal ? [] : createRows(message),
  };
}

function createRows({ buttons, replyReference, link }: ChannelMessage): JsonRecord[] {
  const all = [
    ...buttons.map(({ label, reference, style }) => ({
      type: 2,
      style: buttonStyles[style],
      label: truncate(label, maxLabelLength),
      custom_id: reference,
    })),
    ...(replyReference === null
      ? []
      : [
          {
            type: 2,
            style: buttonStyles.plain,
            label: "Reply…",
            custom_id: `${textPrefix}${replyReference}`,
          },
        ]),
    ...(link?.startsWith("https://") ? [{ type: 2, style: linkStyle, label: "Open", url: link }] : []),
  ];
  const rows: JsonRecord[] = [];
  for (let start = 0; start < all.length; start += maxButtonsPerRow)
    rows.push({ type: 1, components: all.slice(start, start + maxButtonsPerRow) });
  return rows;
}

function findDialogText(components: unknown): string {
  const rows = asList(components);
  const inputs = rows.flatMap((row) =>
    isRecord(row) && Array.isArray(row.components) ? row.components : [],
  );
  const value = inputs.find((input) => isRecord(input) && typeof input.value === "string")?.value;
  return asText(value);
}

/** The user deleted the message: there is nothing to update. */
async function ignoreGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!hasCode(error, unknownMessage)) throw error;
  }
}

const hasCode = (error: unknown, code: number): boolean =>
  error instanceof DeliveryError && error.cause instanceof DiscordAPIError && error.cause.code === code;

function toDeliveryError(error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error;
  if (error instanceof RateLimitError) {
    const retryAfterMs = error.retryAfter || error.timeToReset;
    return new DeliveryError("Discord asks for a pause", { retryAfterMs: Math.max(0, retryAfterMs) });
  }
  // Their messages can contain the address, and that of an interaction or a webhook contains its token.
  if (error instanceof HTTPError)
    return new DeliveryError(`the server answered ${error.status}`, { isUncertain: error.status === 504 });
  if (!(error instanceof DiscordAPIError))
    return new DeliveryError("the answer of the server is not valid", { isUncertain: true });
  const { status, code } = error;
  const failure = new DeliveryError(explain(error), {
    isPermanent: status >= 400 && status < 500 && status !== 408 && status !== 429,
  });
  failure.cause = error;
  return code === 0 && status >= 500 ? new DeliveryError(`the server answered ${status}`) : failure;
}

/** For failures that the user can end. */
function explain({ status, code, rawError }: DiscordAPIError): string {
  const reasons: Readonly<Record<number, string>> = {
    10003: "the channel does not exist, or the bot is not in its server",
    10015: "the webhook was deleted",
    50001: "the bot may not see the channel",
    50007:
      "you do not accept direct messages from the bot. Allow them in the settings of a server that you share",
    50008: "messages cannot be written there: choose a text channel",
    50013: "the bot may not write there. It needs View Channel, Send Messages and Create Public Threads",
    50027: "the webhook address is not valid",
  };
  const text = "message" in rawError ? String(rawError.message).slice(0, 200) : "";
  if (status === 401) return "the token is not valid. Get it from the developer portal";
  return reasons[Number(code)] ?? `the server answered ${status} (${text})`;
}
