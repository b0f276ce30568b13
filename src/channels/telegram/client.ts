/** The client of Telegram: it sends messages, and receives taps and replies (polling.ts, responses.ts). */

import { truncate } from "../../core/text/truncate.ts";
import { schedule as systemSchedule } from "../../system/schedule.ts";
import { createAccountList } from "../accounts.ts";
import { type Channel, type ChannelMessage, type ChannelOptions, DeliveryError } from "../channel.ts";
import { createReplyTargets } from "../reply-targets.ts";
import { createResponseQueue } from "../response-queue.ts";
import { call, createApi, isEditDone, toDeliveryError } from "./api.ts";
import { createPolling, pollSeconds } from "./polling.ts";
import { createUpdateHandler } from "./responses.ts";
import { createFittingText } from "./text.ts";

const defaultRequestMs = 10_000;
const maxLabelLength = 60;
/** Two buttons share a row if both are short. */
const maxPairedLabel = 16;
const buttonStyles = { allow: "success", deny: "danger", plain: undefined } as const;

export function openTelegram(options: ChannelOptions): Channel {
  const { settings, state, onProblem } = options;
  const accounts = createAccountList(settings.accounts, options.now);
  const chat = String(settings.chat ?? accounts.first ?? "");
  const requestMs = options.requestTimeoutMs ?? defaultRequestMs;
  const api = createApi(options, requestMs);
  const responses = createResponseQueue();
  const replyTargets = createReplyTargets(state);
  const handleUpdate = createUpdateHandler({ ...options, api, chat, accounts, replyTargets });
  const polling = createPolling({
    api: createApi(options, pollSeconds * 1_000 + requestMs),
    onUpdate: (update) =>
      responses.start(() =>
        handleUpdate(update).catch((error) =>
          onProblem(`Telegram: a response was not confirmed: ${toDeliveryError(error).message}`),
        ),
      ),
    onProblem: (reason) => onProblem(`Telegram: ${reason}`),
    schedule: options.schedule ?? systemSchedule,
  });

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
