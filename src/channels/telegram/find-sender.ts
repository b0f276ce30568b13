/** Finds out who writes to the bot, for `beckon channel add`: users do not know the id of their own account. */
import type { ChannelSender, FindSenderOptions } from "../channel.ts";
import { createApi, describeAccount, toDeliveryError } from "./api.ts";

const pollSeconds = 20;
const requestMs = 10_000;

/** Waits for a message in a private chat, which can also be one that the user wrote before. */
export async function findTelegramSender(options: FindSenderOptions): Promise<ChannelSender> {
  const api = createApi(options, pollSeconds * 1_000 + requestMs);
  try {
    for (let offset: number | undefined; ; ) {
      const updates = await api.getUpdates(
        { ...(offset === undefined ? {} : { offset }), timeout: pollSeconds, allowed_updates: ["message"] },
        options.signal as never,
      );
      const senders = updates.flatMap(({ message }) =>
        message?.from && !message.from.is_bot && message.chat.type === "private" ? [message.from] : [],
      );
      const newest = senders.at(-1);
      if (newest) return describeAccount(newest);
      for (const { update_id } of updates) offset = Math.max(offset ?? 0, update_id + 1);
    }
  } catch (error) {
    throw toDeliveryError(error);
  }
}
