/**
 * The text of a Discord message. Discord interprets Markdown, mentions and addresses in it. What a session asks is shown in a
 * code block, where it interprets nothing; everything else is escaped. Discord shows a backslash before a sign as the sign.
 */
import { takeStart, truncate } from "../../core/text/truncate.ts";
import { makeVisible } from "../../core/text/visible.ts";
import type { ChannelMessage } from "../channel.ts";

export const maxContentLength = 2_000;
const maxTitleLength = 200;
/** As contracts fix it: this many characters of a response, then "...". */
const maxResponseLength = 1_900;
const ellipsis = "...";

const signs = /[\\*_~`|[\]<@]/g;
/** Headings, quotes, lists and small text start a line. */
const lineStart = /^([ \t]*)(?:([#>+-])|(\d{1,9})([.)]))/gm;
/** An address becomes a link by itself. */
const address = /\b([a-z][a-z0-9+.-]*):(?=\/\/)/gi;

export function escapeMarkdown(text: string): string {
  return text
    .replace(signs, "\\$&")
    .replace(lineStart, (_match, indent: string, sign = "", digits = "", dot = "") =>
      sign === "" ? `${indent}${digits}\\${dot}` : `${indent}\\${sign}`,
    )
    .replace(address, "$1\\:");
}

/** Three backticks end a code block. A zero-width space between them keeps it open and is not seen. */
function toCodeBlock(text: string): string {
  const inside = text.replace(/`(?=`)/g, "`\u200b");
  // A backtick at the end would join the closing ones.
  return `\`\`\`\n${inside}${inside.endsWith("`") ? "\u200b" : ""}\n\`\`\``;
}

/** Longer than `maxContentLength` if the message does not fit. */
export function createContent(message: ChannelMessage): string {
  return joinContent(message, message.lines.join("\n"));
}

/** Cuts the lines if the message does not fit. */
export function createFittingContent(message: ChannelMessage): string {
  const content = createContent(message);
  return content.length <= maxContentLength
    ? content
    : fit(message.lines.join("\n"), "…", (body) => joinContent(message, body));
}

function joinContent({ title, replyHint }: ChannelMessage, body: string): string {
  const block = body === "" ? "" : `\n${toCodeBlock(body)}`;
  return `**${escapeMarkdown(truncate(title, maxTitleLength).toWellFormed())}**${block}${replyHint === null ? "" : `\n${replyHint}`}`;
}

/** A response of a model, at most 1,900 characters of it. Invisible characters are marked. */
export function createResponseContent(response: string): string {
  const isLong = response.length > maxResponseLength;
  const start = isLong ? `${takeStart(response, maxResponseLength)}${ellipsis}` : response;
  // Blanks that nobody sees, and that would be marked.
  const text = makeVisible(start.replace(/[ \t\r]+$/gm, "").replaceAll("\t", "  "));
  const escaped = escapeMarkdown(text);
  if (escaped.length <= maxContentLength) return escaped;
  const block = toCodeBlock(text);
  return block.length <= maxContentLength ? block : fit(text, ellipsis, toCodeBlock);
}

/** Finds how much of the text fits once it is in its form. */
function fit(text: string, mark: string, toForm: (text: string) => string): string {
  let low = 0;
  let high = Math.min(text.length, maxContentLength);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (toForm(cut(text, middle, mark)).length <= maxContentLength) low = middle;
    else high = middle - 1;
  }
  return toForm(cut(text, low, mark));
}

const cut = (text: string, length: number, mark: string): string => `${takeStart(text, length)}${mark}`;
