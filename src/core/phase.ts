/** Phase, state and status: never stored, always derived from the session and the time. */
import type { Moment } from "./event.ts";
import { type Ask, isBlocking, isShown, type Session } from "./session.ts";

export type ActivityPhase = "busy" | "interactable" | "waiting_permission" | "waiting_question";
export type SessionState = "active" | "idle" | "completed" | "stale";
export interface Status {
  readonly kind: "working" | "attention" | "idle";
  readonly detail: string | null;
}

const idleAfterMs = 5 * 60_000;
export const staleAfterMs = 8 * 60 * 60_000;

/** The wall clock knows of sleep, the other clock cannot be set: whichever says more. */
export function elapsedMs(since: Moment, now: Moment): number {
  return Math.max(now.t - since.t, now.at - since.at, 0);
}

/** The ask that names the phase: the oldest that blocks; the idle one only where none does. */
function leadingAsk(session: Session): Ask | null {
  const shown = session.asks.filter(isShown);
  return shown.find(isBlocking) ?? shown[0] ?? null;
}

function isBusy(session: Session): boolean {
  return session.turn.running || session.children.some((child) => child.running);
}

export function stateOf(session: Session, now: Moment): SessionState {
  if (session.ended) return "completed";
  const ask = leadingAsk(session);
  if (ask && isBlocking(ask)) return "active";
  const busy = isBusy(session);
  // Its process lives: dead ones are reported and end the session.
  if (busy && session.place?.local && session.place.pid !== null) return "active";
  if (elapsedMs(session.last, now) >= staleAfterMs) return "stale";
  if (!busy && elapsedMs(session.turn, now) >= idleAfterMs) return "idle";
  return "active";
}

export function phaseOf(session: Session, now: Moment): ActivityPhase | null {
  if (stateOf(session, now) !== "active") return null;
  const ask = leadingAsk(session);
  if (ask)
    return ask.kind === "permission" || ask.kind === "plan" ? "waiting_permission" : "waiting_question";
  return isBusy(session) ? "busy" : "interactable";
}

export function statusOf(session: Session, now: Moment): Status {
  if (stateOf(session, now) !== "active") return { kind: "idle", detail: session.turn.error };
  const ask = leadingAsk(session);
  if (ask && isBlocking(ask)) return { kind: "attention", detail: reason(ask) };
  if (session.turn.running) return { kind: "working", detail: session.detail };
  const child = session.children.findLast((c) => c.running);
  if (child) return { kind: "working", detail: child.type || "Subagent" };
  if (session.turn.error) return { kind: "idle", detail: session.turn.error };
  return { kind: "idle", detail: session.background === null ? null : `background: ${session.background}` };
}

function reason(ask: Ask): string {
  switch (ask.kind) {
    case "permission":
      return ask.tool ? `Permission for ${ask.tool}` : "Permission";
    case "plan":
      return "Plan to approve";
    case "question":
      return ask.summary ? `Question: ${ask.summary}` : "Question";
    case "elicitation":
      return ask.summary ? `MCP input: ${ask.summary}` : "MCP input";
    case "idle":
      return "Waiting for your next prompt";
  }
}
