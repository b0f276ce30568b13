/** The groups in which every list (menu, `beckon status`, API) shows sessions to users. */
import type { Config } from "../config/config.ts";
import {
  createDismissedAskKey,
  createDismissedFailureKey,
  findMuteScope,
  type Preferences,
} from "../config/preferences.ts";
import type { Moment, Place } from "../session/event.ts";
import { type Ask, hasDied, isBlocking, isVisible, isWatched, type Session } from "../session/session.ts";
import { sessionKeyOf } from "../session/session-ref.ts";
import { dayMs, timing } from "../timing.ts";
import { type Ages, createAges } from "./ages.ts";
import type { Group } from "./group-names.ts";
import { isUnattended } from "./unattended.ts";

/** Why beckon shows no alert about a session. */
export type Silence =
  | { readonly kind: "snoozed"; readonly until: number }
  /** Its machine: what it waits for may be over. */
  | { readonly kind: "unreachable"; readonly since: number }
  | { readonly kind: "muted" | "unattended" | "dismissed" };

/** "muted", "snoozed until 14:20" */
export function formatSilence(silence: Silence, formatTime: (at: number) => string): string {
  switch (silence.kind) {
    case "snoozed":
      return `snoozed until ${formatTime(silence.until)}`;
    case "unreachable":
      return `not reachable since ${formatTime(silence.since)}`;
    default:
      return silence.kind;
  }
}

/** The settings that decide in which group a session is, and whether it may be stuck. */
export type GroupConfig = Pick<Config, "mutedProjects" | "stuck"> & {
  readonly alerts: Pick<Config["alerts"], "unattended" | "sdkHosts">;
};

export interface GroupContext {
  readonly preferences: Preferences;
  readonly config: GroupConfig;
  readonly ages: Ages;
}

export interface SessionGroup {
  readonly group: Group;
  /** null if alerts are shown. */
  readonly silence: Silence | null;
  /** The blocking asks on the screen. The one that the session is listed for comes first. */
  readonly asks: readonly Ask[];
  /** Since when it has been in this group. */
  readonly since: Moment;
}

/** Groups a session that is settled at the time of `ages`. */
export function groupSession(session: Session, context: GroupContext): SessionGroup {
  const grouping = findGroup(session, context);
  return { ...grouping, since: findSince(session, grouping, context.ages) };
}

function findSince(
  session: Session,
  { group, asks }: Pick<SessionGroup, "group" | "asks">,
  { minute }: Ages,
): Moment {
  const [ask] = asks;
  if (ask) return ask;
  if (group === "ended") return session.ended ?? session.last;
  if (group !== "working" || session.turn.running) return session.turn;
  const starts = session.children.filter((child) => child.running).map((child) => child.startedAt);
  return { at: Math.min(...starts), t: minute.t };
}

function findGroup(session: Session, context: GroupContext): Omit<SessionGroup, "since"> {
  const { preferences, config, ages } = context;
  const asks = session.asks.filter((ask) => isVisible(ask) && isBlocking(ask));
  const isFailure = isUnresolvedDeath(session, context);
  if (!isFailure && (session.ended || hasProbablyEnded(session, asks, ages)))
    return { group: "ended", silence: null, asks: [] };

  const key = sessionKeyOf(session);
  const silence = findSilence(session, key, context);
  if (isFailure) return { group: "failed", silence, asks: [] };
  const isDismissed = (ask: Ask) => preferences.dismissed.includes(createDismissedAskKey(key, ask.id));
  const leading = asks.find((ask) => !isDismissed(ask)) ?? asks[0];
  if (leading) {
    const why = silence ?? findUnattended(session, config) ?? (isDismissed(leading) ? dismissed : null);
    const ordered = [leading, ...asks.filter((ask) => ask !== leading)];
    return { group: why === null ? "needs_you" : "set_aside", silence: why, asks: ordered };
  }
  if (session.turn.running || session.children.some((child) => child.running)) {
    return { group: "working", silence, asks: [] };
  }
  if (session.turn.error === null) return { group: "ready", silence, asks: [] };
  return preferences.dismissed.includes(createDismissedFailureKey(key, session))
    ? { group: "ready", silence: dismissed, asks: [] }
    : { group: "failed", silence, asks: [] };
}

/**
 * It died in the middle of a turn less than a day ago, and the user has not dismissed that. A session without hooks could not
 * have sent its end, so its disappearance means nothing.
 */
function isUnresolvedDeath(session: Session, { preferences, config, ages }: GroupContext): boolean {
  if (!session.ended || !hasDied(session) || !session.turn.byHook) return false;
  if (findUnattended(session, config) || ages.isOlder(session.ended, dayMs)) return false;
  return !preferences.dismissed.includes(createDismissedFailureKey(sessionKeyOf(session), session));
}

/** Lists the sessions that died in the terminal of a session that starts: the user has seen that they are gone. */
export function findDeadPredecessors(sessions: readonly Session[], started: Session): readonly Session[] {
  return sessions.filter((session) => hasDied(session) && isSameTerminal(session.place, started.place));
}

function isSameTerminal(a: Place | null, b: Place | null): boolean {
  if (!a?.local || !b?.local || a.tty === null) return false;
  return (
    a.tty === b.tty && a.terminalSessionId === b.terminalSessionId && a.env.TMUX_PANE === b.env.TMUX_PANE
  );
}

const dismissed: Silence = { kind: "dismissed" };

/**
 * No event for hours, and beckon cannot see the process, so the session has probably ended. A session that waits for an
 * answer is kept however long it takes.
 */
function hasProbablyEnded(session: Session, asks: readonly Ask[], ages: Ages): boolean {
  return asks.length === 0 && !isWatched(session) && ages.isOlder(session.last, timing.staleAfterMs);
}

function findSilence(session: Session, key: string, context: GroupContext): Silence | null {
  if (session.unreachableSince !== null) return { kind: "unreachable", since: session.unreachableSince };
  const until = findSnoozeEnd(key, context);
  if (until !== null) return { kind: "snoozed", until };
  return findMuteScope(session, context.preferences, context.config) ? { kind: "muted" } : null;
}

/** Returns the wall time at which the snooze of a session ends; null if it is not snoozed. */
export function findSnoozeEnd(
  key: string,
  { preferences, ages }: Pick<GroupContext, "preferences" | "ages">,
): number | null {
  const snooze = preferences.snoozed.find(({ session, until }) => session === key && ages.isFuture(until));
  return snooze?.until ?? null;
}

const findUnattended = (session: Session, config: GroupConfig): Silence | null =>
  isUnattended(session, config) ? { kind: "unattended" } : null;

/** Finds the session that has needed the user for the longest time; null if none does. */
export function findNextWaiting(
  sessions: readonly Session[],
  { preferences, config, now }: { preferences: Preferences; config: GroupConfig; now: Moment },
): Session | null {
  const context = { preferences, config, ages: createAges(now) };
  let next: { readonly session: Session; readonly since: number } | null = null;
  for (const session of sessions) {
    const { group, since } = groupSession(session, context);
    if (group === "needs_you" && (next === null || since.at < next.since))
      next = { session, since: since.at };
  }
  return next?.session ?? null;
}
