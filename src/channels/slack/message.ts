/** A message in Slack's blocks. Nothing in its text becomes a mention, a link, a preview or markup. */
import type { JsonRecord } from "../../core/json.ts";
import { escapeMarkup } from "../../core/text/markup.ts";
import { truncate } from "../../core/text/truncate.ts";
import type { ChannelMessage } from "../channel.ts";

/** Slack's limits for a header, a section, the label of a button and an address. */
const limits = { title: 150, text: 3_000, label: 75, url: 3_000 } as const;

/** Slack counts `&`, `<` and `>` as they are escaped. */
const escapedLength = (text: string): number =>
  text.replaceAll("&", "&amp;").replaceAll(/[<>]/g, "&lt;").length;

/** Slack shows these as one character, so the message would not show exactly what would run. */
const entity = /&(?:amp|lt|gt);/;

/** Whether the message shows all of the text, exactly as it is. */
export function isWhole({ title, lines }: ChannelMessage): boolean {
  const text = lines.join("\n");
  return title.length <= limits.title && escapedLength(text) <= limits.text && !entity.test(text);
}

export const plainText = {
  mrkdwn: false,
  parse: "none",
  link_names: false,
  unfurl_links: false,
  unfurl_media: false,
} as const;

/** `text` is what a phone's notification shows. Slack reads markup in it, so it is escaped. */
export const escapeText = escapeMarkup;

/** Texts of type plain_text are shown as they are, without markup, mentions and links. */
const createText = (text: string) => ({ type: "plain_text", text, emoji: false }) as const;

export function formatMessage({
  title,
  lines,
  buttons,
  link,
  replyHint,
  isFinal,
}: ChannelMessage): JsonRecord {
  const text = truncate(lines.join("\n"), limits.text);
  const isLink = link !== null && /^https?:\/\//.test(link) && link.length <= limits.url;
  const elements = [
    ...buttons.map(({ label, reference, style }, index) => ({
      type: "button",
      action_id: `beckon-${index}`,
      text: createText(truncate(label, limits.label)),
      value: reference,
      ...(style === "plain" ? {} : { style: style === "allow" ? "primary" : "danger" }),
    })),
    ...(isLink ? [{ type: "button", action_id: "beckon-link", text: createText("Open"), url: link }] : []),
  ];
  return {
    ...plainText,
    text: escapeText(truncate(title, limits.title)),
    blocks: [
      { type: "header", text: createText(truncate(title, limits.title)) },
      ...(text.trim() === "" ? [] : [{ type: "section", text: createText(text) }]),
      ...(replyHint === null || isFinal
        ? []
        : [
            {
              type: "context",
              elements: [createText(truncate(`${replyHint} (in this thread)`, limits.text))],
            },
          ]),
      ...(elements.length === 0 ? [] : [{ type: "actions", elements }]),
    ],
  };
}
