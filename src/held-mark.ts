/** The asks of a session as others see them: which can be answered, by which name, and what exactly is asked. */
import { askName } from "./core/ask-name.ts";
import type { Ask, Session } from "./core/session.ts";
import type { AskSnapshot, SessionSnapshot } from "./core/snapshot.ts";
import type { Call } from "./held-call.ts";

export interface Marks {
  /** The session as it stands now. */
  readonly session: Session;
  readonly callOf: (ask: Ask) => Call | null;
  readonly whyNot: (session: Session, ask: Ask) => string;
  readonly inFull: boolean;
}

export function markAsks(snapshot: SessionSnapshot, marks: Marks): SessionSnapshot {
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
    ...(answerable ? { answerId: askName(ask) } : {}),
    ...(answerable && call.asked.dangers.length > 0 ? { dangers: call.asked.dangers } : {}),
    ...(inFull ? { asked: call.asked } : {}),
  };
}
