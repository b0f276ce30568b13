/**
 * The client of Telegram. It sends with grammy's Api and receives taps and replies by long polling. The web build of grammy is
 * used: it calls the fetch that it is given, while the other one brings its own with a deadline that Bun ignores.
 */

import { Api, GrammyError, HttpError } from "grammy/web";
import { rememberOnce } from "../../core/forget-oldest.ts";
import { truncate } from "../../core/text/truncate.ts";
import { type Attempt, ConnectionError } from "../../system/keep-connected.ts";
import { schedule as scheduleTimer } from "../../system/schedule.ts";
import { createAccountList } from "../accounts.ts";
import { type Channel, type ChannelMessage, type ChannelOptions, DeliveryError } from "../channel.ts";
import { createLibraryFetch } from "../library-fetch.ts";
import { createListener } from "../listener.ts";
import { createReplyTargets } from "../reply-targets.ts";
import { createResponseQueue } from "../response-queue.ts";
import { createFittingText } from "./text.ts";

const defaultRequestMs = 10_000;
/** How long a poll waits for updates. */
const pollSeconds = 25;
const backoff = { firstMs: 1_000, maxMs: 60_000 };
/** A server that does not wait for updates must not be asked without end. */
const minPollMs = 1_000;

/** What an update has of the fields that are used here. */
type Update = Awaited<ReturnType<Api["getUpdates"]>>[number];
type CallbackQuery = NonNullable<Update["callback_query"]>;
type Message = NonNullable<Update["message"]>;
type User = NonNullable<Message["from"]>;

const maxToastLength = 200;
const maxLabelLength = 60;
/** Two buttons share a row if both are short. */
const maxPairedLabel = 16;
const maxSeenUpdates = 500;
const buttonStyles = { allow: "success", deny: "danger", plain: undefined } as const;

export function openTelegram(options: ChannelOptions): Channel {
  const { settings, secret, state, onProblem } = options;
  const schedule = options.schedule ?? scheduleTimer;
  const accounts = createAccountList(settings.accounts, options.now);
  const chat = String(settings.chat ?? accounts.first ?? "");
  const requestMs = options.requestTimeoutMs ?? defaultRequestMs;
  const api = createApi(requestMs);
  const pollApi = createApi(pollSeconds * 1_000 + requestMs);
  const responses = createResponseQueue();
  /** A server can repeat an update, and ids start again somewhere else after a week without updates. */
  const seenUpdates = new Set<number>();
  const replyTargets = createReplyTargets(state);
  const polling = createListener({
    connect: poll,
    backoff,
    onProblem: (reason) => onProblem(`Telegram: ${reason}`),
    schedule,
  });
  /** Confirms what was handled. Without it the server starts with the oldest update that is not confirmed. */
  let offset: number | undefined;

  function createApi(timeoutMs: number): Api {
    return new Api(secret("token") ?? "", {
      apiRoot: String(settings.server).replace(/\/+$/, ""),
      fetch: createLibraryFetch(timeoutMs),
    });
  }

  async function send(message: ChannelMessage): Promise<string> {
    if (chat === "") throw new DeliveryError("no chat and no account is set", { isPermanent: true });
    const sent = await call(() =>
      api.sendMessage(chat, ...createArguments(message, { disable_notification: message.urgency === "low" })),
    );
    replyTargets.remember(String(sent.message_id), message);
    return `${sent.chat.id}/${sent.message_id}`;
  }

  async function update(handle: string, message: ChannelMessage): Promise<void> {
    const [chatId = "", id = ""] = handle.split("/");
    replyTargets.remember(id, message);
    try {
      await call(() => api.editMessageText(chatId, Number(id), ...createArguments(message, {})));
    } catch (error) {
      if (!(error instanceof DeliveryError && isEditDone(error.cause))) throw error;
    }
  }

  function createArguments<Extra extends object>(message: ChannelMessage, extra: Extra) {
    const { text, entities } = createFittingText(message);
    const keyboard = message.isFinal ? [] : createKeyboard(message);
    const other = {
      ...extra,
      entities: [...entities],
      link_preview_options: { is_disabled: true },
      // An edit without a keyboard removes the buttons.
      ...(keyboard.length === 0 ? {} : { reply_markup: { inline_keyboard: keyboard } }),
    };
    return [text, other] as const;
  }

  /** Taps and replies. */
  async function poll({ signal, onConnected }: Attempt): Promise<void> {
    while (!signal.aborted) {
      const startedT = performance.now();
      const updates = await pollApi
        .getUpdates(
          {
            ...(offset === undefined ? {} : { offset }),
            timeout: pollSeconds,
            allowed_updates: ["message", "edited_message", "callback_query"],
          },
          signal as never,
        )
        .catch((error) => {
          const { message, retryAfterMs, isPermanent } = toDeliveryError(error);
          // Two programs that receive the updates of one bot take turns: each failure counts, also after a success.
          throw new ConnectionError(message, { retryAfterMs, isPermanent, isRoutine: false });
        });
      onConnected();
      offset = undefined;
      let hasNew = false;
      for (const received of updates) {
        offset = Math.max(offset ?? 0, received.update_id + 1);
        if (startHandling(received)) hasNew = true;
      }
      if (!hasNew && performance.now() - startedT < minPollMs) await pause(minPollMs, signal);
    }
  }

  function pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const cancel = schedule(end, ms);
      signal.addEventListener("abort", end);
    });
  }

  /** Returns false if it was handled before. */
  function startHandling(received: Update): boolean {
    if (!rememberOnce(seenUpdates, received.update_id, maxSeenUpdates)) return false;
    responses.start(() =>
      handle(received).catch((error) =>
        onProblem(`Telegram: a response was not confirmed: ${toDeliveryError(error).message}`),
      ),
    );
    return true;
  }

  async function handle({ callback_query, message, edited_message }: Update): Promise<void> {
    if (callback_query) await handleTap(callback_query);
    else if (message) await handleMessage(message);
    else if (edited_message) await handleEdit(edited_message);
  }

  async function handleTap({ id, from, data, message }: CallbackQuery): Promise<void> {
    // A button of a message in another chat, or of a message that was sent through another chat's inline mode.
    const isHere = message !== undefined && String(message.chat.id) === (await findChatId());
    const { text } = isHere
      ? await options.onResponse({
          ...describeAccount(from),
          reference: String(data ?? ""),
          text: null,
          handle: `${message.chat.id}/${message.message_id}`,
        })
      : { text: "This button does not belong to beckon's chat." };
    await call(() =>
      api.answerCallbackQuery(id, { text: text.slice(0, maxToastLength), show_alert: !isHere }),
    );
  }

  /** A chat can be set by its @name. */
  async function findChatId(): Promise<string> {
    if (!chat.startsWith("@")) return chat;
    const { chatId } = state.get();
    if (typeof chatId === "string") return chatId;
    const found = String((await api.getChat(chat)).id);
    state.set({ ...state.get(), chatId: found });
    return found;
  }

  async function handleMessage(message: Message): Promise<void> {
    const { from, chat: sentIn, reply_to_message: target, text } = message;
    if (!from || from.is_bot) return;
    // An anonymous administrator or a channel: nobody knows who wrote it.
    if (message.sender_chat !== undefined || !accounts.has(String(from.id)))
      return greetStranger(message, from);
    if (String(sentIn.id) !== (await findChatId())) return;
    const isPrivate = sentIn.type === "private";
    if (target?.from?.is_bot !== true) {
      if (isPrivate) await reply(message, "To answer, reply to the message that asks.");
      return;
    }
    const reference = replyTargets.find(String(target.message_id));
    if (reference === undefined) return reply(message, "That message takes no reply, or no longer.");
    if (text === undefined) return reply(message, "Only text is taken as an answer.");
    const answer = await options.onResponse({ ...describeAccount(from), reference, text });
    await reply(message, answer.text);
  }

  async function handleEdit(message: Message): Promise<void> {
    const { from, reply_to_message: target } = message;
    if (!from || !accounts.has(String(from.id)) || target?.from?.is_bot !== true) return;
    await reply(message, "A text that was edited later is not taken as an answer.");
  }

  /** Tells the id that the user has to add to the settings, once an hour for each account and only in a private chat. */
  async function greetStranger(message: Message, from: User): Promise<void> {
    const { account } = describeAccount(from);
    if (!accounts.isDueForRefusal(String(from.id))) return;
    onProblem(`Telegram: a message from ${account} was ignored, who is not listed in accounts`);
    if (message.chat.type === "private" && message.sender_chat === undefined)
      await reply(
        message,
        `beckon does not know you. If it is yours, add "${from.id}" to the channel's accounts.`,
      );
  }

  async function reply({ chat: sentIn, message_id }: Message, text: string): Promise<void> {
    await call(() =>
      api.sendMessage(sentIn.id, text, {
        reply_parameters: { message_id, allow_sending_without_reply: true },
        link_preview_options: { is_disabled: true },
        disable_notification: true,
      }),
    );
  }

  return {
    send,
    update,
    listen: polling.start,
    async stop() {
      await polling.stop();
      await responses.finish();
    },
    problem: polling.problem,
  };
}

/** Everyone chooses their own first name, so it is not shown. */
export function describeAccount({ id, username }: User) {
  return { accountId: String(id), account: username === undefined ? String(id) : `@${username}` };
}

function createKeyboard({ buttons, link }: ChannelMessage) {
  const rows: { text: string; callback_data: string; style?: "success" | "danger" }[][] = [];
  for (const { label, reference, style } of buttons) {
    const color = buttonStyles[style];
    const button = {
      text: truncate(label, maxLabelLength),
      callback_data: reference,
      ...(color === undefined ? {} : { style: color }),
    };
    const last = rows.at(-1);
    const isPaired =
      last?.length === 1 && [button, ...last].every(({ text }) => text.length <= maxPairedLabel);
    if (last && isPaired) last.push(button);
    else rows.push([button]);
  }
  // Telegram refuses the whole message for the address of this machine.
  return link?.startsWith("https://") ? [...rows, [{ text: "Open", url: link }]] : rows;
}

async function call<Result>(request: () => Promise<Result>): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    throw toDeliveryError(error);
  }
}

export function toDeliveryError(error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error;
  if (error instanceof HttpError && error.error instanceof DeliveryError) return error.error;
  // The cause of any other failure can contain the address, which contains the token.
  if (!(error instanceof GrammyError))
    return new DeliveryError("the answer of the server is not valid", { isUncertain: true });
  const { error_code: code, description, parameters } = error;
  const retryAfter = parameters?.retry_after;
  const failure = new DeliveryError(
    explain(error) ?? `the server answered ${code} (${description.slice(0, 200)})`,
    {
      retryAfterMs: typeof retryAfter === "number" ? retryAfter * 1_000 : null,
      isPermanent: code >= 400 && code < 500 && code !== 429 && code !== 409,
      isUncertain: code === 504,
    },
  );
  failure.cause = error;
  return failure;
}

/** For failures that the user can end. */
function explain({ error_code: code, parameters }: GrammyError): string | null {
  const newChat = parameters?.migrate_to_chat_id;
  if (newChat !== undefined) return `the group has become a supergroup: set chat to "${newChat}"`;
  if (code === 401 || code === 404) return "the token is not valid. Get it from @BotFather";
  if (code === 403)
    return "the bot may not write there. Open the chat and press Start, or add the bot to the group";
  if (code === 409) return "another program receives the updates of this bot. Create a bot for beckon alone";
  return null;
}

/** The message says so already, or is gone. */
function isEditDone(error: unknown): boolean {
  return (
    error instanceof GrammyError &&
    error.error_code === 400 &&
    /message is not modified|message to edit not found|message can't be edited/i.test(error.description)
  );
}
