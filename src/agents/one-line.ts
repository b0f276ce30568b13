/** One-line texts from what agents send: never longer than a limit, without control characters. */
import { limits } from "../core/limits.ts";
import { truncate } from "../core/text/truncate.ts";

/** The start of the text as one line, for keeping: what shows it cleans it for its place. A long text is not read to its end. */
export function toOneLine(text: string): string {
  const max = limits.maxSummaryLength;
  const start = text.slice(0, max * 4);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach a menu or a terminal
  const line = start.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  return truncate(start.length < text.length ? `${line}…` : line, max);
}
