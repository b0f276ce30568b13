/** The kinds of alerts, and what holds for each of them on the desktop and in channels. */
import { statusTexts } from "../../session/texts.ts";
import { minuteMs } from "../../timing.ts";

export type Urgency = "urgent" | "normal" | "low";

interface AlertKindFacts {
  readonly urgency: Urgency;
  /** An older event causes no alert; null if it does as long as it lasts. */
  readonly maxAgeMs: number | null;
  /** After the number of sessions, if one alert stands for several. */
  readonly predicates: readonly [one: string, several: string];
  /** After the project's name, where nothing else about the session may be said. */
  readonly minimal: string;
}

/**
 * "untracked": an edit that belongs to no port. "limit": a quota or a context over the share that the user has set, or a quota that is
 * back. A failure and a limit count longer: the user may come back from lunch.
 */
export const alertKinds = {
  blocked: {
    urgency: "urgent",
    maxAgeMs: null,
    predicates: ["needs you", "need you"],
    minimal: "needs you",
  },
  failed: {
    urgency: "normal",
    maxAgeMs: 30 * minuteMs,
    predicates: ["stopped with an error", "stopped with an error"],
    minimal: "has stopped",
  },
  idle: {
    urgency: "low",
    maxAgeMs: 10 * minuteMs,
    predicates: ["is ready for your next prompt", "are ready for your next prompt"],
    minimal: "is ready",
  },
  finished: {
    urgency: "low",
    maxAgeMs: 10 * minuteMs,
    predicates: ["is done", "are done"],
    minimal: "is ready",
  },
  untracked: {
    urgency: "low",
    maxAgeMs: 10 * minuteMs,
    predicates: ["edits without a port", "edit without a port"],
    minimal: statusTexts.untracked,
  },
  limit: {
    urgency: "low",
    maxAgeMs: 30 * minuteMs,
    predicates: [statusTexts.limit, "have news about a limit"],
    minimal: statusTexts.limit,
  },
} as const satisfies Readonly<Record<string, AlertKindFacts>>;

export type AlertKind = keyof typeof alertKinds;
