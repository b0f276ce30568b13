/** A session as the menu lists it: in which group, since when, and why. */
import type { Config } from "../config/config.ts";
import type { Preferences } from "../config/preferences.ts";
import { askSummary } from "../session/ask-text.ts";
import type { Moment } from "../session/event.ts";
import { keyOfSession } from "../session/keys.ts";
import { statusOf } from "../session/phase.ts";
import { type Ask, hasDied, isInterrupted, type Session } from "../session/session.ts";
import { failedWith, inBackground, interruptedText, statusTexts } from "../session/status-text.ts";
import { dayMs } from "../timing.ts";
import type { Ages } from "./ages.ts";
import { groupSession, type SessionGroup } from "./groups.ts";

export interface MenuRow extends SessionGroup {
  readonly session: Session;
  /** `agent:sessionId` */
  readonly key: string;
  readonly since: Moment;
  readonly what: string;
}

export interface MenuRowInput {
  readonly preferences: Preferences;
  readonly config: Config;
  readonly ages: Ages;
  /** Formats a wall time as local time. */
  readonly clock: (at: number) => string;
}

/** Returns null for a session that ended more than a day ago: nobody looks for it in a menu. */
export function rowOf(session: Session, input: MenuRowInput): MenuRow | null {
  const grouping = groupSession(session, input);
  const { since, what } = describe(session, grouping, input.ages);
  if (grouping.group === "ended" && input.ages.isOlder(since, dayMs)) return null;
  return { session, key: keyOfSession(session), ...grouping, since, what };
}

function describe(
  session: Session,
  { group, asks }: SessionGroup,
  ages: Ages,
): { readonly since: Moment; readonly what: string } {
  const { ended, turn } = session;
  const [ask] = asks;
  if (ask) return { since: ask, what: wantIn(session, ask) };
  if (group === "ended") {
    const what = hasDied(session) ? statusTexts.died : ended ? statusTexts.ended : statusTexts.lost;
    return { since: ended ?? session.last, what };
  }
  if (group === "working") {
    const what = statusOf(session, ages.minute).detail ?? statusTexts.thinking;
    return { since: workingSince(session, ages), what };
  }
  return { since: turn, what: turn.error === null ? doneWith(session) : failedWith(turn.error) };
}

/** "Bash: npm run deploy", "Explore › Question: Which colour?" */
export function wantIn(session: Session, ask: Ask): string {
  const child = session.children.find(({ agentId }) => agentId === ask.agentId);
  return (ask.agentId === null ? "" : `${child?.type || "Subagent"} › `) + askSummary(ask);
}

function workingSince(session: Session, { minute }: Ages): Moment {
  if (session.turn.running) return session.turn;
  const started = session.children.filter((child) => child.running).map((child) => child.startedAt);
  return { at: Math.min(...started), t: minute.t };
}

function doneWith(session: Session): string {
  const { background, prompted } = session;
  if (background !== null) return inBackground(background);
  if (isInterrupted(session)) return interruptedText(session.lastPrompt);
  return prompted === null ? statusTexts.ready : statusTexts.done;
}
