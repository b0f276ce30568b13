/** What of a session is worth an alert, whether or not its person wants to hear of it now. */

import type { Config } from "../../config/config.ts";
import type { FindAskDetails } from "../../session/ask-details.ts";
import type { Moment } from "../../session/event.ts";
import { askAlertKey, diedAlertKey, turnEndAlertKey } from "../../session/keys.ts";
import { elapsedMs, statusOf } from "../../session/phase.ts";
import { isProbe } from "../../session/probe.ts";
import { type Ask, hasDied, isBlocking, isVisible, type Session } from "../../session/session.ts";
import { certainAt, settlesAt } from "../../session/settle.ts";
import { minuteMs, timing } from "../../timing.ts";
import type { AlertKind } from "../view.ts";
import {
  type AlertListItem,
  type AlertText,
  createAskItem,
  createTurnEndItem,
  formatAskAlert,
  formatDiedAlert,
  formatFailedAlert,
  formatFinishedAlert,
  probeText,
} from "./text.ts";

export interface AlertCause {
  readonly key: string;
  readonly kind: AlertKind;
  readonly session: Session;
  readonly since: Moment;
  /** `when`: its `since`, for people. */
  readonly words: (name: string, when: string) => AlertText;
  readonly listed: (name: string) => AlertListItem;
  /** Milliseconds until it is too old to be told; null: never. */
  readonly leftMs: number | null;
}

export interface AlertCauses {
  readonly causes: readonly AlertCause[];
  /** Milliseconds until time alone may bring another, or change these. */
  readonly againMs: readonly number[];
}

/** What happened longer ago is no news. A person comes back from lunch to what failed. */
const newsMs = { failed: 30 * minuteMs, idle: 10 * minuteMs, finished: 10 * minuteMs } as const;
/** Found dead so soon after beckon's start, it may have been so for hours. */
const startMs = 10_000;

export interface CauseContext {
  readonly now: Moment;
  /** Wall time since which beckon has watched. */
  readonly upSince: number;
  /** Which kinds the person wants to be told of. */
  readonly on: Pick<Config["alerts"], "failed" | "finished">;
  readonly asked: FindAskDetails;
  readonly home: string;
}

/** Of a session that is settled at `now`. */
export function findCauses(session: Session, watch: CauseContext): AlertCauses {
  const { now } = watch;
  const rest = settlesAt(session, now.t);
  const againMs = rest === null ? [] : [rest - now.t];
  const asks = session.asks.filter(isVisible);
  const nameless = asks.filter((ask) => waitsForName(ask, now));
  for (const ask of nameless) againMs.push(timing.fileHookGapMs - elapsedMs(ask, now));
  const blocked = asks
    .filter((ask) => isBlocking(ask) && !nameless.includes(ask))
    .map((ask): AlertCause => {
      return {
        key: askAlertKey(session, ask.id),
        kind: "blocked",
        session,
        since: ask,
        words: (name, when) =>
          isProbe(session)
            ? probeText
            : formatAskAlert(ask, session, name, when, { asked: watch.asked(ask), home: watch.home }),
        listed: (name) => createAskItem(ask, session, name, watch.home),
        leftMs: null,
      };
    });
  if (session.ended) {
    const died = diedOf(session, session.ended, watch);
    if (typeof died === "number") return { causes: [], againMs: [died] };
    if (died) return { causes: [died], againMs };
  }
  if (blocked.length + nameless.length > 0) return { causes: blocked, againMs };
  const certain = session.stopped && certainAt(session, session.stopped, now.t);
  if (certain !== null) againMs.push(certain - now.t);
  const over = certain === null ? overOf(session, watch) : null;
  // A reminder says nothing new about a turn whose end was told.
  const one = isTold(session, watch) ? over : (idleOf(session, now) ?? over);
  return { causes: one ? [one] : [], againMs };
}

function waitsForName(ask: Ask, now: Moment): boolean {
  return ask.from === "file" && ask.tool === null && elapsedMs(ask, now) < timing.fileHookGapMs;
}

/**
 * A session that no hook spoke of could not have sent a SessionEnd.
 * A number: the milliseconds after which it is certain.
 */
function diedOf(
  session: Session,
  ended: NonNullable<Session["ended"]>,
  watch: CauseContext,
): AlertCause | number | null {
  const { now, upSince } = watch;
  if (!hasDied(session) || !session.turn.byHook) return null;
  const wasBefore = ended.at < upSince + startMs;
  const since = wasBefore ? session.last : ended;
  const leftMs = newsMs.failed - elapsedMs(since, now);
  if (leftMs <= 0) return null;
  const certainMs = timing.lateHookMs - elapsedMs(ended, now);
  if (certainMs > 0) return certainMs;
  return {
    key: diedAlertKey(session, ended),
    kind: "failed",
    session,
    since,
    words: (name, when) => formatDiedAlert(session, name, when),
    listed: (name) => createTurnEndItem(session, name),
    leftMs,
  };
}

/** The agent itself said that the turn is over, and nothing runs since. */
function isOver(session: Session, now: Moment): boolean {
  const { turn, stopped, ended } = session;
  if (turn.running || stopped === null) return false;
  // A run that nobody sits at ends with its turn; where somebody sits, they ended it.
  if (ended) return session.attended === false && !ended.whileBusy;
  return stopped.t === turn.t && statusOf(session, now).kind === "idle";
}

function isTold(session: Session, { now, on }: CauseContext): boolean {
  return isOver(session, now) && (session.turn.error === null ? on.finished : on.failed);
}

function overOf(session: Session, { now, on }: CauseContext): AlertCause | null {
  const { stopped, turn } = session;
  const isFailed = turn.error !== null;
  if (stopped === null || !isOver(session, now) || !(isFailed || on.finished)) return null;
  const kind = isFailed ? "failed" : "finished";
  const leftMs = newsMs[kind] - elapsedMs(stopped, now);
  if (leftMs <= 0) return null;
  return {
    key: turnEndAlertKey(session, stopped),
    kind,
    session,
    since: stopped,
    words: (name, when) => (isFailed ? formatFailedAlert : formatFinishedAlert)(session, name, when),
    listed: (name) => createTurnEndItem(session, name),
    leftMs,
  };
}

function idleOf(session: Session, now: Moment): AlertCause | null {
  const ask = session.asks.find((open) => open.kind === "idle" && isVisible(open));
  const leftMs = ask ? newsMs.idle - elapsedMs(ask, now) : 0;
  if (!ask || leftMs <= 0) return null;
  return {
    key: askAlertKey(session, ask.id),
    kind: "idle",
    session,
    since: ask,
    words: (name, when) => formatAskAlert(ask, session, name, when),
    listed: (name) => createTurnEndItem(session, name),
    leftMs,
  };
}
