/** A message as Pushover takes it. */
import { truncate } from "../../core/text/truncate.ts";
import type { ChannelMessage } from "../channel.ts";

const limits = { title: 250, message: 1_024, url: 512 } as const;

export const isWhole = ({ title, lines }: ChannelMessage): boolean =>
  title.length <= limits.title && lines.join("\n").length <= limits.message;

/** `html` is not set, so the text is shown as it is. */
export function formatMessage({ title, lines, link }: ChannelMessage): Readonly<Record<string, string>> {
  const text = lines.join("\n").trim();
  return {
    title: truncate(title, limits.title),
    // An empty message is refused.
    message: truncate(text === "" ? title : text, limits.message),
    ...(link === null || link.length > limits.url ? {} : { url: link }),
  };
}
