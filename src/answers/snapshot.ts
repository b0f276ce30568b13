/** The asks of a session as others see them: which can be answered, by which name, and what exactly is asked. */
import { answerIdOf } from "../core/session/keys.ts";
import type { Ask, Session } from "../core/session/session.ts";
import type { AskSnapshot, SessionSnapshot } from "../core/view/snapshot.ts";
import type { PendingRequest } from "./request.ts";

export interface Marks {
  /** The session as it stands now. */
  readonly session: Session;
  readonly callOf: (ask: Ask) => PendingRequest | null;
  readonly whyNot: (session: Session, ask: Ask) => string;
  readonly inFull: boolean;
}

export function addAnswerInfo(snapshot: SessionSnapshot, marks: Marks): SessionSnapshot {
  return { ...snapshot, asks: snapshot.asks.map((shown) => markAsk(shown, marks)) };
}

function markAsk(shown: AskSnapshot, { session, callOf, whyNot, inFull }: Marks): AskSnapshot {
  const ask = session.asks.find(({ id }) => id === shown.id);
  if (!ask) return shown;
  const call = callOf(ask);
  if (!call) return inFull ? { ...shown, why: whyNot(session, ask) } : shown;
  const answerable = call.taken === null;
  return {
    ...shown,
    answerable,
    ...(answerable ? { answerId: answerIdOf(ask) } : {}),
    ...(answerable && call.details.dangers.length > 0 ? { dangers: call.details.dangers } : {}),
    ...(inFull ? { asked: call.details } : {}),
  };
}
