/** The text of a Telegram message. It has no markup: entities say what is bold or code, so nothing in the text is interpreted. */
import { truncate } from "../../core/text/truncate.ts";
import type { ChannelMessage } from "../channel.ts";

/** In UTF-16 units. Telegram counts characters, so this is never too long. */
export const maxTextLength = 4_096;
const maxTitleLength = 300;

export interface TextEntity {
  readonly type: "bold" | "code" | "pre";
  readonly offset: number;
  readonly length: number;
}

export interface TelegramText {
  readonly text: string;
  readonly entities: readonly TextEntity[];
}

/** Telegram makes links of these by itself: mentions, hashtags, commands, addresses, phone numbers. Not inside of code. */
const linkSigns = /[@#$/:.]|\d{5}/;

/** Longer than `maxTextLength` if the message does not fit. */
export function createText(message: ChannelMessage): TelegramText {
  return joinText(message, message.lines.join("\n"));
}

/** Cuts the lines if the message does not fit. */
export function createFittingText(message: ChannelMessage): TelegramText {
  const body = message.lines.join("\n");
  const excess = createText(message).text.length - maxTextLength;
  return excess <= 0 ? createText(message) : joinText(message, truncate(body, body.length - excess));
}

function joinText(message: ChannelMessage, body: string): TelegramText {
  const title = truncate(message.title, maxTitleLength);
  const hint = message.replyHint === null ? "" : `\n${message.replyHint}`;
  const start = title.length + 1;
  const titleType = linkSigns.test(title) ? "code" : "bold";
  return {
    text: `${title}${body === "" ? "" : `\n${body}`}${hint}`,
    entities: [
      { type: titleType, offset: 0, length: title.length },
      ...(body === "" ? [] : [{ type: "pre" as const, offset: start, length: body.length }]),
    ],
  };
}
