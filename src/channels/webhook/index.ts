/** A generic webhook: a JSON of your form is posted to an address of yours, signed and retried. The client is in client.ts. */

import { isRecord } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import type { ChannelMessage, Service } from "../channel.ts";

const checkAddress = (value: unknown): string | null => {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : null;
  return url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
    ? null
    : "an address that starts with https:// (or http://), without a user name";
};

const minKeyLength = 16;

export const webhook: Service = {
  type: "webhook",
  name: "Webhook",
  summary: "JSON for a program of yours, signed, without answers",
  canAnswer: () => false,
  hasAccounts: false,
  // The receiver can tell by the id that it has seen a message.
  isIdempotent: () => true,
  maxButtons: 0,
  fits: ({ title, lines }: ChannelMessage) =>
    Buffer.byteLength(title) + Buffer.byteLength(lines.join("\n")) <= limits.maxWebhookTextBytes,
  settings: [
    {
      name: "url",
      question: "Which address? Anyone who knows it can post there too, so it is kept with the secrets.",
      isSecret: true,
      check: checkAddress,
    },
    {
      name: "key",
      question: `Which key to sign with? At least ${minKeyLength} characters. Leave it empty to send unsigned.`,
      isSecret: true,
      default: null,
      check: (value) =>
        typeof value === "string" && value.length >= minKeyLength
          ? null
          : `a text of at least ${minKeyLength} characters`,
    },
    {
      name: "template",
      question: "Which JSON? Leave it empty for beckon's own form.",
      isSecret: false,
      default: null,
      check: (value) =>
        value === null || isRecord(value) ? null : 'an object like {"text": "{{title}}: {{text}}"}',
    },
  ],
  load: async () => (await import("./client.ts")).openWebhook,
};
