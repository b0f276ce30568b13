/** What about a session is worth an alert, whether or not the user wants to see it now. */
import type { Config } from "../../config/config.ts";
import type { FindAskDetails } from "../../session/ask-details.ts";
import type { Moment } from "../../session/event.ts";
import {
  createAskAlertKey,
  createDiedAlertKey,
  createTurnEndAlertKey,
  createUntrackedAlertKey,
} from "../../session/keys.ts";
import { elapsedMs, statusOf } from "../../session/phase.ts";
import { isProbe } from "../../session/probe.ts";
import { type Ask, hasDied, isBlocking, isVisible, type Session } from "../../session/session.ts";
import { findCertainTime, findSettleTime } from "../../session/settle.ts";
import { minuteMs, timing } from "../../timing.ts";
import type { SessionName } from "../session-names.ts";
import { type AlertKind, alertKinds } from "./kinds.ts";
import {
  type AlertListItem,
  type AlertText,
  createAskItem,
  createTurnEndItem,
  createUntrackedItem,
  formatAskAlert,
  formatDiedAlert,
  formatFailedAlert,
  formatFinishedAlert,
  formatUntrackedAlert,
  probeText,
} from "./text.ts";

export interface AlertCause {
  readonly key: string;
  readonly kind: AlertKind;
  readonly session: Session;
  /** null if it is about the end of a turn. */
  readonly ask: Ask | null;
  readonly since: Moment;
  /** Formats an alert of its own. `when` is `since` as local time. */
  readonly formatText: (name: SessionName, when: string) => AlertText;
  /** Creates its line in an alert about several sessions. */
  readonly createItem: (name: string) => AlertListItem;
  /** Milliseconds until it is too old for an alert; null if it never is. */
  readonly leftMs: number | null;
}

export interface AlertCauses {
  readonly causes: readonly AlertCause[];
  /** Milliseconds until time alone may add or change a cause. */
  readonly recheckMs: readonly number[];
}

/** A session found dead this soon after beckon's start may have died hours ago. */
const startMs = 10_000;

export interface CauseContext {
  readonly now: Moment;
  /** Wall time at which beckon started. */
  readonly startedAt: number;
  /** Which kinds the user wants. */
  readonly enabled: Pick<Config["alerts"], "failed" | "finished" | "longTurnMinutes">;
  readonly findDetails: FindAskDetails;
  readonly home: string;
}

/** `session` must be settled at `now`. */
export function findCauses(session: Session, context: CauseContext): AlertCauses {
  const { now } = context;
  // Nothing is alerted from memory: its machine tells what is still open when it is reachable again.
  if (session.unreachableSince !== null) return { causes: [], recheckMs: [] };
  const settlesT = findSettleTime(session, now.t);
  const recheckMs = settlesT === null ? [] : [settlesT - now.t];
  if (session.ended) {
    const died = findDeath(session, session.ended, context);
    if (typeof died === "number") return { causes: [], recheckMs: [died] };
    if (died) return { causes: [died], recheckMs };
  }
  const asks = session.asks.filter((ask) => isVisible(ask) && isBlocking(ask));
  const unnamed = session.asks.filter((ask) => isVisible(ask) && isUnnamed(ask, now));
  for (const ask of unnamed) recheckMs.push(timing.fileHookGapMs - elapsedMs(ask, now));
  const blocked = asks
    .filter((ask) => !unnamed.includes(ask))
    .map((ask) => createAskCause(session, ask, context));
  if (blocked.length + unnamed.length > 0) return { causes: blocked, recheckMs };

  const certain = session.stopped && findCertainTime(session, session.stopped, now.t);
  if (certain !== null) recheckMs.push(certain - now.t);
  const turnEnd = certain === null ? findTurnEnd(session, context) : null;
  // A reminder adds nothing to a turn whose end has an alert.
  const cause = hasTurnEndAlert(session, context) ? turnEnd : (findIdle(session, now) ?? turnEnd);
  const untracked = findUntracked(session, now);
  return { causes: [cause, untracked].filter((found) => found !== null), recheckMs };
}

/** The work guard let an edit through that belongs to no port. */
function findUntracked(session: Session, now: Moment): AlertCause | null {
  const { untracked } = session;
  if (untracked === null || untracked.isBlocked || session.ended) return null;
  const leftMs = alertKinds.untracked.maxAgeMs - elapsedMs(untracked, now);
  if (leftMs <= 0) return null;
  return {
    key: createUntrackedAlertKey(session, untracked),
    kind: "untracked",
    session,
    ask: null,
    since: untracked,
    formatText: (name, when) => formatUntrackedAlert(session, untracked, name, when),
    createItem: (name) => createUntrackedItem(untracked, name),
    leftMs,
  };
}

function createAskCause(session: Session, ask: Ask, { findDetails, home }: CauseContext): AlertCause {
  return {
    key: createAskAlertKey(session, ask.id),
    kind: "blocked",
    session,
    ask,
    since: ask,
    formatText: (name, when) =>
      isProbe(session)
        ? probeText
        : formatAskAlert(ask, session, name, when, { details: findDetails(ask), home }),
    createItem: (name) => createAskItem(ask, session, name, { details: findDetails(ask), home }),
    leftMs: null,
  };
}

/** The status file can report a dialog just before the hook that names it. */
function isUnnamed(ask: Ask, now: Moment): boolean {
  return ask.from === "file" && ask.tool === null && elapsedMs(ask, now) < timing.fileHookGapMs;
}

/**
 * Returns the milliseconds until it is certain that no SessionEnd hook comes. A session without hooks could not have sent one,
 * so its end means nothing.
 */
function findDeath(
  session: Session,
  ended: NonNullable<Session["ended"]>,
  { now, startedAt }: CauseContext,
): AlertCause | number | null {
  if (!hasDied(session) || !session.turn.byHook) return null;
  const wasBeforeStart = ended.at < startedAt + startMs;
  const since = wasBeforeStart ? session.last : ended;
  const leftMs = alertKinds.failed.maxAgeMs - elapsedMs(since, now);
  if (leftMs <= 0) return null;
  const certainMs = timing.lateHookMs - elapsedMs(ended, now);
  if (certainMs > 0) return certainMs;
  return {
    key: createDiedAlertKey(session, ended),
    kind: "failed",
    session,
    ask: null,
    since,
    formatText: (name, when) => formatDiedAlert(session, name, when),
    createItem: (name) => createTurnEndItem(session, name),
    leftMs,
  };
}

/** The agent reported the end of its turn, and nothing has run since. */
function isTurnOver(session: Session, now: Moment): boolean {
  const { turn, stopped, ended } = session;
  if (turn.running || stopped === null) return false;
  // An unattended run ends with its turn. If the user was there, they ended the session themselves.
  if (ended) return session.attended === false && !ended.whileBusy;
  return stopped.t === turn.t && statusOf(session, now).kind === "idle";
}

function hasTurnEndAlert(session: Session, { now, enabled }: CauseContext): boolean {
  if (!isTurnOver(session, now)) return false;
  return session.turn.error === null ? enabled.finished || isLongTurn(session, enabled) : enabled.failed;
}

/** The turn took longer than the user waits in front of it. */
function isLongTurn({ prompted, stopped }: Session, { longTurnMinutes }: CauseContext["enabled"]): boolean {
  if (longTurnMinutes === 0 || !prompted || !stopped) return false;
  return elapsedMs(prompted, stopped) >= longTurnMinutes * minuteMs;
}

function findTurnEnd(session: Session, { now, enabled }: CauseContext): AlertCause | null {
  const { stopped, turn } = session;
  const hasFailed = turn.error !== null;
  const isWanted = hasFailed || enabled.finished || isLongTurn(session, enabled);
  if (stopped === null || !isTurnOver(session, now) || !isWanted) return null;
  const kind = hasFailed ? "failed" : "finished";
  const leftMs = alertKinds[kind].maxAgeMs - elapsedMs(stopped, now);
  if (leftMs <= 0) return null;
  return {
    key: createTurnEndAlertKey(session, stopped),
    kind,
    session,
    ask: null,
    since: stopped,
    formatText: (name, when) => (hasFailed ? formatFailedAlert : formatFinishedAlert)(session, name, when),
    createItem: (name) => createTurnEndItem(session, name),
    leftMs,
  };
}

/** A session that never had a prompt (after /clear) waits for nothing. */
function findIdle(session: Session, now: Moment): AlertCause | null {
  if (session.prompted === null) return null;
  const ask = session.asks.find((open) => open.kind === "idle" && isVisible(open));
  const leftMs = ask ? alertKinds.idle.maxAgeMs - elapsedMs(ask, now) : 0;
  if (!ask || leftMs <= 0) return null;
  return {
    key: createAskAlertKey(session, ask.id),
    kind: "idle",
    session,
    ask,
    since: ask,
    formatText: (name, when) => formatAskAlert(ask, session, name, when),
    createItem: (name) => createTurnEndItem(session, name),
    leftMs,
  };
}
