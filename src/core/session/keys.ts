/** What an alert is about, as a name that stays the same: once per ask, once per end of a turn. */

import { createHash } from "node:crypto";
import { createSessionKey, type Moment } from "./event.ts";
import type { Ask, Session } from "./session.ts";

export function askAlertKey(session: Session, askId: string): string {
  return `${sessionKeyOf(session)}#${askId}`;
}

export function turnEndAlertKey(session: Session, stopped: Moment): string {
  return `${sessionKeyOf(session)}#over-${stopped.at}`;
}

export function diedAlertKey(session: Session, ended: Moment): string {
  return `${sessionKeyOf(session)}#died-${ended.at}`;
}

export function sessionKeyOf({ agent, sessionId }: Session): string {
  return createSessionKey(agent, sessionId);
}

/** `agent:sessionId` of an alert's key. */
export function sessionKeyOfAlert(key: string): string {
  return key.slice(0, key.lastIndexOf("#"));
}

/** All that it can alert about as it stands. */
export function listAlertKeys(session: Session): string[] {
  const { asks, stopped, ended } = session;
  return [
    ...asks.map((ask) => askAlertKey(session, ask.id)),
    ...(stopped ? [turnEndAlertKey(session, stopped)] : []),
    ...(ended ? [diedAlertKey(session, ended)] : []),
  ];
}

/**
 * What an answer calls its ask. Counted alone (`5e55109e-3`) it could be another dialog's: after a late event the story is
 * told anew, and after a lost snapshot counted anew. With the request in it, it is this one or none, and nobody guesses it.
 */
export function answerIdOf({ id, request }: Pick<Ask, "id" | "request">): string {
  if (request === null) return id;
  return `${id}.${createHash("sha256").update(request).digest("hex").slice(0, 16)}`;
}
