/** Names of asks and alerts. An alert keeps its key as long as it is about the same ask or the same end of a turn. */
import { createHash } from "node:crypto";
import type { Moment } from "./event.ts";
import type { Ask, Session } from "./session.ts";
import { type SessionRefLike, sessionKeyOf } from "./session-ref.ts";

export function createAskAlertKey(session: SessionRefLike, askId: string): string {
  return `${sessionKeyOf(session)}#${askId}`;
}

export function createTurnEndAlertKey(session: Session, stopped: Moment): string {
  return `${sessionKeyOf(session)}#over-${stopped.at}`;
}

export function createDiedAlertKey(session: Session, ended: Moment): string {
  return `${sessionKeyOf(session)}#died-${ended.at}`;
}

export function createUntrackedAlertKey(session: Session, untracked: Moment): string {
  return `${sessionKeyOf(session)}#untracked-${untracked.at}`;
}

/** `what`: which limit, and which of its times. */
export function createLimitAlertKey(session: string, what: string): string {
  return `${session}#limit-${what}`;
}

export const isLimitAlertKey = (alertKey: string): boolean => /#limit-[^#]*$/.test(alertKey);

/** "" for an alert that is about no session. */
export function sessionKeyOfAlert(alertKey: string): string {
  return alertKey.slice(0, Math.max(0, alertKey.lastIndexOf("#")));
}

/** What an ask of another machine has in place of its request, so that no request of this machine is meant by it. */
export const createMirroredRequest = (machine: string, request: string): string => `${machine}\n${request}`;
export const isMirroredRequest = (request: string): boolean => request.includes("\n");

/** Whether the alert is about an ask, and not about the end of a turn or session, an edit, or a limit. */
export const isAskAlertKey = (alertKey: string): boolean =>
  !/#(?:over|died|untracked|limit)-[^#]*$/.test(alertKey);

/** Lists the keys of all alerts that the session can cause in its current state. */
export function listAlertKeys(session: Session): string[] {
  const { asks, stopped, ended, untracked } = session;
  return [
    ...asks.map((ask) => createAskAlertKey(session, ask.id)),
    ...(stopped ? [createTurnEndAlertKey(session, stopped)] : []),
    ...(ended ? [createDiedAlertKey(session, ended)] : []),
    ...(untracked ? [createUntrackedAlertKey(session, untracked)] : []),
  ];
}

/**
 * The id by which an answer names its ask. The ask's own id is only counted (`5e55109e-3`), so after a late event or a lost
 * snapshot it could mean another dialog. With a hash of the request it means this one, and cannot be guessed.
 */
export function answerIdOf({ id, request }: Pick<Ask, "id" | "request">): string {
  if (request === null) return id;
  return `${id}.${createHash("sha256").update(request).digest("hex").slice(0, 16)}`;
}
