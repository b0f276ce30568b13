/**
 * Discord: messages of a bot with buttons, or of a webhook without, and a thread per session (feed.ts). The client is in
 * client.ts, the connection for taps in gateway.ts.
 */
import { isRecord } from "../../core/json.ts";
import type { ReadSecret, Service, ServiceSettings } from "../channel.ts";
import { isPrivateAddress } from "../check.ts";
import { createContent, maxContentLength } from "./text.ts";

const isId = (value: unknown): boolean => typeof value === "string" && /^\d{17,20}$/.test(value);

const isForward = (value: unknown): boolean =>
  isRecord(value) &&
  Object.entries(value).every(
    ([name, isOn]) => ["responses", "phases"].includes(name) && typeof isOn === "boolean",
  );

/** Otherwise the channel uses a webhook. */
const isOfBot = (_: ServiceSettings, secret: ReadSecret): boolean => secret("token") !== null;

export const discord: Service = {
  type: "discord",
  name: "Discord",
  summary: "a channel, direct messages, and a thread per session; a webhook or a bot",
  canAnswer: isOfBot,
  hasAccounts: true,
  checkAccount: (id) => (isId(id) ? null : "the id of an account, a number with 17 to 20 digits"),
  // A message of a webhook has no nonce.
  isIdempotent: isOfBot,
  maxButtons: 15,
  fits: (message) => createContent(message).length <= maxContentLength,
  settings: [
    {
      name: "token",
      question: "Which bot token? Leave it empty if you only have the address of a webhook.",
      isSecret: true,
      default: null,
      check: (value) =>
        typeof value === "string" && /^[\w-]{20,}\.[\w-]{4,}\.[\w-]{20,}$/.test(value)
          ? null
          : "a bot token, as the developer portal shows it once",
    },
    {
      name: "webhook",
      question: "Which webhook address? A webhook cannot take answers.",
      isSecret: true,
      default: null,
      isAsked: (_, secret) => secret("token") === null,
      check: (value) =>
        typeof value === "string" && isPrivateAddress(value) && /\/webhooks\/\d+\/[\w-]+$/.test(value)
          ? null
          : "the address of a webhook, like https://discord.com/api/webhooks/…",
    },
    {
      name: "channel",
      question:
        "Which channel of your server? Leave it empty for direct messages to the first of the accounts.",
      isSecret: false,
      default: null,
      isAsked: (_, secret) => secret("token") !== null,
      check: (value) =>
        value === null || isId(value) ? null : "the id of a channel, a number with 17 to 20 digits",
    },
    {
      name: "forward",
      question: "",
      isSecret: false,
      default: { phases: true, responses: false },
      check: (value) => (isForward(value) ? null : '{"phases": true, "responses": true}'),
    },
    {
      name: "server",
      question: "",
      isSecret: false,
      default: "https://discord.com/api",
      check: (value) => (isPrivateAddress(value) ? null : "an address that starts with https://"),
    },
  ],
  // Direct messages of a bot go to the first of the accounts.
  needsAccount: ({ channel, projects }, secret) =>
    secret("token") !== null && channel === null && !isRecord(projects),
  load: async () => (await import("./client.ts")).openDiscord,
};
