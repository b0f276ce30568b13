/** Texts and figures of the page. Pure. */

import { formatEndingCell } from "../../core/answers/words.ts";
import type { HistoryItem, SpanState } from "../../core/interfaces/wire.ts";
import { describeReason } from "../../core/session/texts.ts";
import { extractFirstLine, toSingleLine } from "../../core/text/text.ts";
import { capitalize } from "../../core/text/words.ts";
import type { SessionView } from "../../core/view/session-view.ts";
import { isAskKind } from "../../core/view/story.ts";

export const noValue = "–";

const pad = (value: number): string => String(value).padStart(2, "0");

/** "14:32" */
export function formatTime(at: number): string {
  const date = new Date(at);
  return `${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

/** "14:32:05" */
export const formatTimeWithSeconds = (at: number): string =>
  `${formatTime(at)}:${pad(new Date(at).getSeconds())}`;

export function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

/** "Today", "Yesterday", "Mon 9 Nov" */
export function formatDay(at: number, now: number): string {
  const today = startOfDay(now);
  if (at >= today) return "Today";
  if (at >= startOfDay(today - 1)) return "Yesterday";
  const day = new Date(at).toLocaleDateString("en-GB", { weekday: "short", day: "numeric", month: "short" });
  return day.replace(",", "");
}

/** Inside of a sentence: "today", "yesterday", "Mon 9 Nov" */
export const formatDayInside = (at: number, now: number): string =>
  formatDay(at, now).replace(/^(?:Today|Yesterday)$/, (day) => day.toLowerCase());

/** "14:25:40" today, "Yesterday 17:52", "Mon 9 Nov 17:52" */
export function formatWhen(at: number, now: number): string {
  if (at >= startOfDay(now)) return formatTimeWithSeconds(at);
  return `${formatDay(at, now)} ${formatTime(at)}`;
}

/** In the coming days: "15:00", "Mon 09:00" */
export function formatComing(at: number, now: number): string {
  if (startOfDay(at) === startOfDay(now)) return formatTime(at);
  return `${new Date(at).toLocaleDateString("en-GB", { weekday: "short" })} ${formatTime(at)}`;
}

/** Percent of the context window in use; null if unknown. */
export function contextPercent(context: SessionView["context"]): number | null {
  if (!context?.window) return null;
  return Math.min(100, Math.round((context.used / context.window) * 100));
}

const maxCell = 300;

/** Text from an agent, for one line. */
export const cleanText = (text: string | null | undefined): string =>
  toSingleLine(text ?? "").slice(0, maxCell);

const maxParagraph = 4_000;

/** Text from an agent, with its lines. Nothing in it reorders or hides other text. */
export function cleanLines(text: string): string {
  const lines = text.slice(0, maxParagraph).split("\n");
  return lines.map(toSingleLine).join("\n") + (text.length > maxParagraph ? "\n…" : "");
}

export const branchOf = (branch: string | null): string => (branch === "HEAD" ? "" : cleanText(branch));

/** Maker, family, version and date. */
const modelPattern = /^[a-z]+-([a-z]+)-(\d{1,2})(?:-(\d{1,2}))?(?:-\d{8})?$/;

/** "Opus 4.5" for "MAKER-opus-4-5-20251101". A name in another form stays as it is. */
export function formatModel(model: string | null | undefined): string {
  const name = cleanText(model).replace(/\[.*$/, "");
  const [, family = "", major = "", minor] = modelPattern.exec(name) ?? [];
  if (family === "") return name;
  return `${capitalize(family)} ${major}${minor === undefined ? "" : `.${minor}`}`;
}

export interface Activity {
  /** In bold: the tool, the kind of ask, the error. */
  readonly lead: string;
  readonly text: string;
  readonly isFailure: boolean;
}

/** What a session does or wants, for its row. */
export function describeActivity(session: SessionView): Activity {
  const { group, status, error, died, asks, lastResponse, lastPrompt, interrupted } = session;
  const plain = (lead: string, text = ""): Activity => ({ lead, text: cleanText(text), isFailure: false });
  if (group === "needs_you" || group === "set_aside") {
    const ask = asks.find(({ kind }) => kind !== "idle") ?? asks[0];
    if (ask) {
      const subject = ask.kind === "plan" ? extractFirstLine(ask.summary) : ask.summary;
      if (!session.reachable) return plain(`Asked at ${formatTime(ask.openedAt)}:`, subject);
      return plain(describeReason(ask), subject);
    }
  }
  if (died) return { lead: "ended unexpectedly", text: "", isFailure: true };
  if (group === "failed") return { lead: cleanText(error) || "failed", text: "", isFailure: true };
  if (group === "working") {
    const [lead = "", ...rest] = cleanText(status.detail).split(": ");
    if (!session.reachable) return plain("Was working:", cleanText(status.detail));
    return plain(lead || "Working", rest.join(": "));
  }
  if (interrupted) return plain("interrupted", extractFirstLine(lastPrompt));
  return plain("", extractFirstLine(lastResponse) || extractFirstLine(lastPrompt));
}

/** The second line of a row: what the agent said last, or what it was told. */
export function describeLastMessage(session: SessionView): string {
  const { group, lastResponse, lastPrompt } = session;
  const prompt = cleanText(extractFirstLine(lastPrompt));
  const response = cleanText(extractFirstLine(lastResponse));
  if (group === "ready" || group === "ended") return prompt && response ? `You: ${prompt}` : "";
  return response || (prompt && `You: ${prompt}`);
}

export const spanLabels: Readonly<Record<SpanState, string>> = {
  working: "working",
  waiting: "waiting for you",
  ready: "ready",
  failed: "failed",
};

interface Ending extends Pick<HistoryItem, "how" | "where"> {
  readonly kind: string;
}

/** "allowed · this page", "open" for an ask without an answer, "" for anything else. */
export function describeEnding({ kind, how, where }: Ending): string {
  if (how === null) return isAskKind(kind) ? "open" : "";
  return formatEndingCell(how, kind, where === "page" ? "this page" : cleanText(where));
}

/** Splits a text into parts that match a word of the search, and parts that do not. */
export function splitMatches(
  text: string,
  query: string,
): { readonly text: string; readonly isMatch: boolean }[] {
  const words = query
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (words.length === 0) return [{ text, isMatch: false }];
  return text
    .split(new RegExp(`(${words.join("|")})`, "gi"))
    .map((part, index) => ({ text: part, isMatch: index % 2 === 1 }))
    .filter((part) => part.text !== "");
}
