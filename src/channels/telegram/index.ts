/** Telegram: messages of a bot, with buttons. The client is in client.ts. */
import type { Service } from "../channel.ts";
import { isPrivateAddress } from "../check.ts";
import { createText, maxTextLength } from "./text.ts";

const chatForm = /^(?:-?\d{1,20}|@\w{5,32})$/;

export const telegram: Service = {
  type: "telegram",
  name: "Telegram",
  summary: "messages of a bot",
  canAnswer: () => true,
  hasAccounts: true,
  checkAccount: (id) => (/^\d{1,20}$/.test(id) ? null : "the number of an account, like 12345678"),
  isIdempotent: () => false,
  maxButtons: 8,
  fits: (message) => createText(message).text.length <= maxTextLength,
  settings: [
    {
      name: "token",
      question: "Which token? Create a bot with @BotFather, who tells you its token.",
      isSecret: true,
      check: (value) =>
        typeof value === "string" && /^\d+:[\w-]{30,}$/.test(value) ? null : "a bot token like 123456:AbC…",
    },
    {
      name: "chat",
      question: "Which chat? The id of a group, or empty for your own chat with the bot.",
      isSecret: false,
      default: null,
      check: (value) =>
        value === null || (typeof value === "string" && chatForm.test(value))
          ? null
          : "the id of a chat, like 12345678 or -1001234567890",
    },
    {
      name: "server",
      question: "",
      isSecret: false,
      default: "https://api.telegram.org",
      check: (value) => (isPrivateAddress(value) ? null : "an address that starts with https://"),
    },
  ],
  needsAccount: ({ chat }) => chat === null,
  findSender: async (options) => (await import("./find-sender.ts")).findTelegramSender(options),
  load: async () => (await import("./client.ts")).openTelegram,
};
