/** Phase, state and status of a session at a given time. They are derived, never stored. */
import { timing } from "../timing.ts";
import type { FileStatus, Moment } from "./event.ts";
import { type Ask, isBlocking, isVisible, isWatched, nameOfChild, type Session } from "./session.ts";
import { describeReason, formatBackgroundTask, statusTexts, summarizeAskInFull } from "./texts.ts";

export type ActivityPhase = "busy" | "interactable" | "waiting_permission" | "waiting_question";
export type SessionState = "active" | "idle" | "completed" | "stale";
export type Evidence = "proven" | "inferred";
export interface Status {
  readonly kind: "working" | "attention" | "idle";
  readonly detail: string | null;
}

/** The larger of both clocks: only wall time counts while the machine sleeps, and only the monotonic clock cannot be set. */
export function elapsedMs(since: Moment, now: Moment): number {
  return Math.max(now.t - since.t, now.at - since.at, 0);
}

/** The ask that decides the phase: the oldest blocking one, or the idle one if none blocks. */
function findLeadingAsk(session: Session): Ask | null {
  const visible = session.asks.filter(isVisible);
  return visible.find(isBlocking) ?? visible[0] ?? null;
}

function isBusy(session: Session): boolean {
  return session.turn.running || session.children.some((child) => child.running);
}

export function stateOf(session: Session, now: Moment): SessionState {
  if (session.ended) return "completed";
  const ask = findLeadingAsk(session);
  if (ask && isBlocking(ask)) return "active";
  const isWorking = isBusy(session);
  // Its process is alive: a dead process is reported and ends the session.
  if (isWorking && isWatched(session)) return "active";
  if (elapsedMs(session.last, now) >= timing.staleAfterMs) return "stale";
  if (!isWorking && elapsedMs(session.turn, now) >= timing.idleAfterMs) return "idle";
  return "active";
}

export function phaseOf(session: Session, now: Moment): ActivityPhase | null {
  if (stateOf(session, now) !== "active") return null;
  const ask = findLeadingAsk(session);
  if (ask)
    return ask.kind === "permission" || ask.kind === "plan" ? "waiting_permission" : "waiting_question";
  return isBusy(session) ? "busy" : "interactable";
}

/**
 * "proven" if the agent's status file agrees with the hooks, or the agent itself reported the end of the turn or of the
 * session. Without a status file, an open ask or a running turn is inferred: the user can have pressed Esc, which no hook
 * reports.
 */
export function evidenceOf(session: Session): Evidence {
  const { ended, file, turn, stopped, prompted, asks } = session;
  if (ended) return "proven";
  const isBlocked = asks.some((ask) => isBlocking(ask) && isVisible(ask));
  if (file === null) {
    const isStatedEnd = stopped !== null && stopped.t === turn.t;
    return !isBlocked && !isBusy(session) && (isStatedEnd || prompted === null) ? "proven" : "inferred";
  }
  return isAgreeing(file.status, isBlocked, isBusy(session)) ? "proven" : "inferred";
}

function isAgreeing(status: FileStatus, isBlocked: boolean, isWorking: boolean): boolean {
  switch (status) {
    case "waiting":
      return isBlocked;
    case "busy":
      return isWorking && !isBlocked;
    default:
      return !isBlocked && !isWorking;
  }
}

export function statusOf(session: Session, now: Moment): Status {
  const state = stateOf(session, now);
  if (state === "completed" || state === "stale") return { kind: "idle", detail: session.turn.error };
  const ask = findLeadingAsk(session);
  if (ask && isBlocking(ask)) return { kind: "attention", detail: detailOf(ask) };
  if (session.turn.running) return { kind: "working", detail: session.detail ?? statusTexts.thinking };
  const child = session.children.findLast((c) => c.running);
  if (child) return { kind: "working", detail: nameOfChild(child) };
  const { turn, background } = session;
  return {
    kind: "idle",
    detail: turn.error ?? (background === null ? null : formatBackgroundTask(background)),
  };
}

/** A permission or plan can be long, so its subject is only in the ask. */
function detailOf(ask: Ask): string {
  return ask.kind === "permission" || ask.kind === "plan" ? describeReason(ask) : summarizeAskInFull(ask);
}
