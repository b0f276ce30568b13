/** What is published to ntfy, as JSON that the server takes. */
import type { ChannelMessage } from "../channel.ts";
import { cutToBytes } from "../http.ts";

export interface NtfyTarget {
  readonly server: string;
  readonly topic: string;
  readonly replyTopic: string | null;
  /** For the buttons. */
  readonly replyToken: string | null;
  readonly click: string | null;
}

/** Measured with ntfy 2.27.0: it takes a message of 4,096 bytes for an attachment, and refuses a body of 8,192 bytes. */
const maxMessageBytes = 4_095;
const maxBodyBytes = 8_191;
const maxTitleLength = 200;
export const maxButtons = 3;
export const maxAddressLength = 300;
export const maxTokenLength = 100;

const priorities = { urgent: 5, normal: 3, low: 2 } as const;
const tags = { urgent: ["bell"], normal: ["warning"], low: [] } as const;

/** For a program that replies in words: no app shows it, and ntfy ignores it. */
const replyHeader = "X-Beckon-Reply";

/** Text that does not fit is cut. `isWhole`: nothing was. */
export function createBody(message: ChannelMessage, target: NtfyTarget, sequenceId: string) {
  const { title, lines, replyReference, replyHint, buttons } = message;
  const text = lines.join("\n");
  // Topic and reference mean nothing to a reader, so they are shown only where no button answers. See replyHeader.
  const hint =
    replyReference === null || target.replyTopic === null || buttons.length > 0
      ? ""
      : `\n\n${replyHint ?? "Reply in words."} Publish to ${target.replyTopic}: ${replyReference} your text`;
  const rest = createRest(message, target, sequenceId);
  let maxBytes = maxMessageBytes - Buffer.byteLength(hint);
  for (;;) {
    const shown = cutToBytes(text, maxBytes);
    // ntfy replaces an empty message by "triggered".
    const json = JSON.stringify({ ...rest, message: shown + hint || title });
    const overBytes = Buffer.byteLength(json) - maxBodyBytes;
    if (overBytes <= 0 || maxBytes === 0) return { json, isWhole: shown === text };
    maxBytes = Math.max(0, Math.min(maxBytes, Buffer.byteLength(shown)) - overBytes);
  }
}

function createRest(message: ChannelMessage, target: NtfyTarget, sequenceId: string): object {
  const { title, urgency, buttons, isFinal, link, replyReference } = message;
  const { server, topic, replyTopic, replyToken } = target;
  const click = link ?? target.click;
  return {
    topic,
    sequence_id: sequenceId,
    title: title.slice(0, maxTitleLength),
    priority: isFinal ? 1 : priorities[urgency],
    tags: isFinal ? ["white_check_mark"] : tags[urgency],
    ...(click === null ? {} : { click }),
    actions: buttons.slice(0, maxButtons).map(({ label, reference }, index) => ({
      action: "http",
      label,
      url: `${server}/${replyTopic}`,
      method: "POST",
      body: reference,
      headers: {
        ...(replyToken === null ? {} : { Authorization: `Bearer ${replyToken}` }),
        ...(index > 0 || replyReference === null ? {} : { [replyHeader]: replyReference }),
      },
    })),
  };
}

/** Whatever the settings are. */
const longestTarget: NtfyTarget = {
  server: "x".repeat(maxAddressLength),
  topic: "x".repeat(64),
  replyTopic: "x".repeat(64),
  replyToken: "x".repeat(maxTokenLength),
  click: "x".repeat(maxAddressLength),
};

export const isWhole = (message: ChannelMessage): boolean =>
  createBody(message, longestTarget, "x".repeat(18)).isWhole;
