/** A session as the tray lists it: under which heading, since when, and what for. */

import type { Config } from "../config/config.ts";
import { dismissalKey, isFailureDismissed, mutedBy, type Preferences } from "../config/preferences.ts";
import { askSummary } from "../session/ask-text.ts";
import { type Moment, sessionKey } from "../session/event.ts";
import { statusOf } from "../session/phase.ts";
import { type Ask, hasDied, isBlocking, isInterrupted, isVisible, type Session } from "../session/session.ts";
import { failedWith, inBackground, interruptedText, statusTexts } from "../session/status-text.ts";
import { dayMs, timing } from "../timing.ts";
import type { Ages } from "./ages.ts";
import type { Group } from "./groups.ts";

export interface MenuRow {
  readonly session: Session;
  /** `agent:sessionId` */
  readonly key: string;
  readonly group: Group;
  readonly since: Moment;
  readonly what: string;
  /** The asks that wait for a person, the one that counts first. */
  readonly asks: readonly Ask[];
  /** Why its person is not told of it: "muted", "snoozed until 14:20". */
  readonly silence: string | null;
}

export interface MenuRowInput {
  readonly wishes: Preferences;
  readonly config: Config;
  readonly ages: Ages;
  /** Local time, for people. */
  readonly clock: (at: number) => string;
}

/** null: over for so long that nobody looks for it in a menu. */
export function rowOf(session: Session, given: MenuRowInput): MenuRow | null {
  const { ages } = given;
  const key = sessionKey(session.agent, session.sessionId);
  const row = { session, key, asks: [], silence: silenceOf(session, key, given) };
  const { ended, turn } = session;
  if (ended || isLost(session, ages)) {
    const since = ended ?? session.last;
    const what = hasDied(session) ? statusTexts.died : ended ? statusTexts.ended : statusTexts.lost;
    return ages.isOlder(since, dayMs) ? null : { ...row, group: "ended", since, what, silence: null };
  }
  const asks = session.asks.filter((ask) => isVisible(ask) && isBlocking(ask));
  const waiting = asks.filter((ask) => !given.wishes.dismissed.includes(dismissalKey(key, ask.id)));
  const leading = waiting[0] ?? asks[0];
  if (leading) {
    const why = row.silence ?? unattended(session, given) ?? (waiting.length === 0 ? "dismissed" : null);
    const group = why === null ? "needs you" : "set aside";
    const ordered = [leading, ...asks.filter((ask) => ask !== leading)];
    return { ...row, group, since: leading, what: wantIn(session, leading), asks: ordered, silence: why };
  }
  if (turn.running || session.children.some((child) => child.running)) {
    const what = statusOf(session, ages.minute).detail ?? statusTexts.thinking;
    return { ...row, group: "working", since: workingSince(session, ages), what };
  }
  if (turn.error !== null) {
    const what = failedWith(turn.error);
    const isSeen = given.wishes.dismissed.includes(isFailureDismissed(key, session));
    if (!isSeen) return { ...row, group: "failed", since: turn, what };
    return { ...row, group: "ready", since: turn, what, silence: "dismissed" };
  }
  return { ...row, group: "ready", since: turn, what: doneWith(session) };
}

function isSeen({ place }: Session): boolean {
  return place?.local === true && place.pid !== null;
}

/** Silent for hours, in a place where nobody could see its end. One that blocks is waited for however long it takes. */
function isLost(session: Session, ages: Ages): boolean {
  const blocks = session.asks.some((ask) => isVisible(ask) && isBlocking(ask));
  return !blocks && !isSeen(session) && ages.isOlder(session.last, timing.staleAfterMs);
}

function silenceOf(
  session: Session,
  key: string,
  { wishes, config, ages, clock }: MenuRowInput,
): string | null {
  const until = snoozedUntil(key, wishes, ages);
  if (until !== null) return `snoozed until ${clock(until)}`;
  return mutedBy(session, wishes, config) ? "muted" : null;
}

export function snoozedUntil(key: string, wishes: Preferences, ages: Ages): number | null {
  const snooze = wishes.snoozed.find(({ session, until }) => session === key && ages.isToCome(until));
  return snooze?.until ?? null;
}

function unattended(session: Session, { config }: MenuRowInput): string | null {
  return session.attended === false && !config.alerts.unattended ? "unattended" : null;
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
