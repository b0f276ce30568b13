/** ntfy: push notifications through ntfy.sh or a server of your own. The client is in client.ts. */
import { randomBytes } from "node:crypto";
import type { Service } from "../channel.ts";
import { isHttpAddress } from "../check.ts";
import { isWhole, maxAddressLength, maxButtons, maxTokenLength } from "./message.ts";

/** ntfy's form of topics. */
const topicForm = /^[-_A-Za-z0-9]{1,64}$/;

const checkTopic = (value: unknown): string | null =>
  typeof value === "string" && topicForm.test(value) ? null : "up to 64 letters, digits, - and _";

const checkToken = (value: unknown): string | null =>
  typeof value === "string" && value !== "" && value.length <= maxTokenLength
    ? null
    : "an access token like tk_…";

/** Anyone who knows the name of a topic on a public server can read it. */
const suggestTopic = (): string => `beckon-${randomBytes(12).toString("base64url")}`;

export const ntfy: Service = {
  type: "ntfy",
  name: "ntfy",
  summary: "push notifications on phones, through ntfy.sh or your own server",
  canAnswer: ({ replyTopic }) => typeof replyTopic === "string",
  hasAccounts: false,
  isClosed: (_, secret) => secret("token") !== null,
  isIdempotent: () => true,
  maxButtons,
  fits: isWhole,
  settings: [
    {
      name: "server",
      question: "Which server?",
      isSecret: false,
      default: "https://ntfy.sh",
      check: (value) =>
        isHttpAddress(value) && String(value).length <= maxAddressLength
          ? null
          : "the address of a server, like https://ntfy.sh",
    },
    {
      name: "topic",
      question: "Which topic? Choose one that nobody can guess.",
      suggest: suggestTopic,
      isSecret: false,
      check: checkTopic,
    },
    {
      name: "replyTopic",
      question: "",
      suggest: suggestTopic,
      isMade: true,
      isForAnswers: true,
      isSecret: false,
      default: null,
      check(value, { topic }) {
        if (value === null) return null;
        // beckon would read its own alerts as answers.
        return value === topic ? "another topic than that of the alerts" : checkTopic(value);
      },
    },
    {
      name: "click",
      question: "",
      isSecret: false,
      default: null,
      check: (value) =>
        value === null ||
        (typeof value === "string" &&
          value.length <= maxAddressLength &&
          /^[a-z][a-z0-9+.-]*:\S+$/i.test(value))
          ? null
          : "an address that a tap on the message opens, like ssh://desk or https://…",
    },
    {
      name: "token",
      question: "Which access token? Leave it empty if the topic needs none.",
      isSecret: true,
      default: null,
      check: checkToken,
    },
    {
      name: "replyToken",
      question:
        "Which token for answers? It is part of every message with buttons, so it must only be able to write to the topic for answers. Leave it empty if that topic needs none.",
      isSecret: true,
      isForAnswers: true,
      default: null,
      // A topic that needs no token for alerts needs none for answers.
      isAsked: ({ replyTopic }, secret) => typeof replyTopic === "string" && secret("token") !== null,
      check: checkToken,
    },
  ],
  describePhone: ({ server, topic }) => ({
    steps: [
      "On your phone, install the app “ntfy” (Android: Google Play or F-Droid; iPhone: App Store).",
      `In the app, tap + and enter the topic ${topic}${server === "https://ntfy.sh" ? "" : ` of the server ${server}`}, or scan this code and subscribe there:`,
    ],
    link: `${server}/${topic}`,
  }),
  load: async () => (await import("./client.ts")).openNtfy,
};
