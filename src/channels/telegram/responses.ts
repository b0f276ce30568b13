/** What a tap or a message to the bot does: it answers a request, or its sender learns why it does not. */
import type { Api } from "grammy/web";
import type { AccountList } from "../accounts.ts";
import type { ChannelOptions } from "../channel.ts";
import type { ReplyTargets } from "../reply-targets.ts";
import { call, describeAccount, type Update, type User } from "./api.ts";

export interface UpdateHandlerOptions extends Pick<ChannelOptions, "state" | "onResponse" | "onProblem"> {
  readonly api: Api;
  /** The chat of the messages, by its id or its @name. */
  readonly chat: string;
  readonly accounts: AccountList;
  readonly replyTargets: ReplyTargets;
}

type CallbackQuery = NonNullable<Update["callback_query"]>;
type Message = NonNullable<Update["message"]>;

const maxToastLength = 200;

/** Rejects if Telegram does not take what its sender should read. */
export function createUpdateHandler(options: UpdateHandlerOptions) {
  const { api, chat, accounts, replyTargets, state } = options;

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
    // An anonymous administrator or a channel: the author is unknown.
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
    options.onProblem(`Telegram: a message from ${account} was ignored, who is not listed in accounts`);
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

  return async ({ callback_query, message, edited_message }: Update): Promise<void> => {
    if (callback_query) await handleTap(callback_query);
    else if (message) await handleMessage(message);
    else if (edited_message) await handleEdit(edited_message);
  };
}
