/** What an alert is about, as a name that stays the same: once per ask, once per end of a turn. */
import { type Moment, sessionKey } from "./event.ts";
import type { Session } from "./session.ts";

export function askKey(session: Session, askId: string): string {
  return `${keyOfSession(session)}#${askId}`;
}

export function overKey(session: Session, stopped: Moment): string {
  return `${keyOfSession(session)}#over-${stopped.at}`;
}

export function diedKey(session: Session, ended: Moment): string {
  return `${keyOfSession(session)}#died-${ended.at}`;
}

export function keyOfSession({ agent, sessionId }: Session): string {
  return sessionKey(agent, sessionId);
}

/** `agent:sessionId` of an alert's key. */
export function sessionOfAlertKey(key: string): string {
  return key.slice(0, key.lastIndexOf("#"));
}

/** All that it can alert about as it stands. */
export function alertKeys(session: Session): string[] {
  const { asks, stopped, ended } = session;
  return [
    ...asks.map((ask) => askKey(session, ask.id)),
    ...(stopped ? [overKey(session, stopped)] : []),
    ...(ended ? [diedKey(session, ended)] : []),
  ];
}
