/**
 * Slack. With the address of an incoming webhook it is one-way. With a bot's token and a channel, messages change when the ask
 * ends; with an app-level token too, buttons and replies come back through Socket Mode, which needs no public address.
 */
import type { Service, ServiceSetting } from "../channel.ts";
import { isPrivateAddress } from "../check.ts";
import { isWhole } from "./message.ts";

const checkAddress: ServiceSetting["check"] = (value) =>
  isPrivateAddress(value) ? null : "an address that starts with https://";

const checkToken =
  (prefix: string): ServiceSetting["check"] =>
  (value) =>
    typeof value === "string" && new RegExp(`^${prefix}[A-Za-z0-9-]{8,250}$`).test(value)
      ? null
      : `a token that starts with ${prefix}`;

const usesBot: ServiceSetting["isAsked"] = (_, secret) => secret("webhookUrl") === null;

export const slack: Service = {
  type: "slack",
  name: "Slack",
  summary: "a channel or direct message; a webhook or a bot",
  canAnswer: ({ channel }) => typeof channel === "string",
  hasAccounts: true,
  checkAccount: (id) => (/^[UW][A-Z0-9]{6,20}$/.test(id) ? null : "the id of a member, like U0123ABCD"),
  isIdempotent: () => false,
  maxButtons: 20,
  fits: isWhole,
  settings: [
    {
      name: "webhookUrl",
      question:
        "The address of an incoming webhook (one-way: alerts only). Leave it empty to use a bot, which can take answers",
      isSecret: true,
      default: null,
      check: checkAddress,
    },
    {
      name: "channel",
      question: "The id of a channel, like C0123ABCD, or your own member id for direct messages",
      isSecret: false,
      default: null,
      isAsked: usesBot,
      check: (value) =>
        value === null || (typeof value === "string" && /^[CDGU][A-Z0-9]{6,20}$/.test(value))
          ? null
          : "the id of a channel, like C0123ABCD (in Slack: the channel's details, at the bottom)",
    },
    {
      name: "botToken",
      question: "The bot's token (xoxb-…, from OAuth & Permissions; scope chat:write)",
      isSecret: true,
      default: null,
      isAsked: usesBot,
      check: checkToken("xoxb-"),
    },
    {
      name: "appToken",
      question:
        "For answers: the app-level token (xapp-…, from Basic Information; scope connections:write). Empty: no answers",
      isSecret: true,
      default: null,
      isAsked: usesBot,
      check: checkToken("xapp-"),
    },
    {
      name: "apiUrl",
      question: "",
      isSecret: false,
      default: "https://slack.com/api",
      check: checkAddress,
    },
  ],
  load: async () => (await import("./client.ts")).openSlack,
};
