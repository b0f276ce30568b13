/** An ask that was open at a moment of the past: how it ended, and why there was an alert or not, in words. Pure. */
import type { AskEnding } from "../answers/ending.ts";
import { describeEnding } from "../answers/words.ts";
import { capitalize } from "../text/words.ts";
import { formatExactDuration } from "./figures.ts";

/** How it ended. */
export interface PastAskEnd {
  /** The session. */
  readonly key: string;
  /** The id that the ask has in its view. */
  readonly ask: string;
  /** null while it is open. */
  readonly closedAt: number | null;
  readonly waitedMs: number | null;
  readonly how: AskEnding | null;
  /** "terminal", "menu", …; null if nobody answered. */
  readonly where: string | null;
  /** What was replied, the message of a denial. */
  readonly detail: string | null;
}

/** What became of an alert about it. */
export interface PastAlert extends Pick<PastAskEnd, "key" | "ask"> {
  readonly at: number;
  readonly what: "shown" | "not shown" | "not sent";
  /** "alert shown", "you are looking at it", "sent to phone" */
  readonly outcome: string;
}

/** "Approved at 14:24" and "by you, on this page, after 5m 50s". `kind` is the ask's. */
export function describePastEnd(
  { closedAt, waitedMs, how, where, detail }: Omit<PastAskEnd, "key" | "ask">,
  kind: string,
  formatTime: (at: number) => string,
): { readonly done: string; readonly rest: string } | null {
  if (closedAt === null) return null;
  const { done, rest } = describeEnding(how ?? "dismissed", kind, where, detail);
  const after = waitedMs === null ? "" : `after ${formatExactDuration(waitedMs)}`;
  return { done: `${done} at ${formatTime(closedAt)}`, rest: [rest, after].filter(Boolean).join(", ") };
}

/** "Alert shown at 14:18", "No alert: you are looking at it" */
export function describePastAlert(
  { what, outcome, at }: Pick<PastAlert, "what" | "outcome" | "at">,
  formatTime: (at: number) => string,
): string {
  if (what === "shown") return `${capitalize(outcome)} at ${formatTime(at)}`;
  return `${what === "not shown" ? "No alert" : "Not sent"}: ${outcome}`;
}
