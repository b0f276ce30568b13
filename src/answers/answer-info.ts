/** What a listed session has about answering: which of its asks can be answered from here, and why not. */
import type { AnswerSupport } from "../agents/agent.ts";
import { answerIdOf } from "../core/session/keys.ts";
import { type Ask, isBlocking, type Session } from "../core/session/session.ts";
import type { SessionRefLike } from "../core/session/session-ref.ts";
import type { AskView, SessionView } from "../core/view/session-view.ts";
import type { PendingRequest } from "./pending-request.ts";

export interface AnswerInfoOptions {
  readonly getSettled: (ref: SessionRefLike) => Session | null;
  readonly findRequest: (
    ask: Ask,
  ) => (Pick<PendingRequest, "details"> & { readonly sent: object | null }) | null;
  /** Why an ask without a pending request cannot be answered from here. */
  readonly explain: (session: Session, ask: Ask) => string;
}

/** Adds to a view what can be answered and, `inFull`, everything that is asked. */
export function createAnswerInfo({ getSettled, findRequest, explain }: AnswerInfoOptions) {
  function addInfo(view: AskView, session: Session, inFull: boolean): AskView {
    const ask = session.asks.find(({ id }) => id === view.id);
    if (!ask) return view;
    const request = findRequest(ask);
    if (!request) return inFull ? { ...view, why: explain(session, ask) } : view;
    const { details, sent } = request;
    const answerable = sent === null;
    return {
      ...view,
      answerable,
      ...(answerable ? { answerId: answerIdOf(ask) } : {}),
      ...(answerable && details.dangers.length > 0 ? { dangers: details.dangers } : {}),
      ...(inFull ? { asked: details } : {}),
    };
  }

  return (view: SessionView, inFull = false): SessionView => {
    if (view.asks.length === 0) return view;
    const session = getSettled({ machine: view.machine, agent: view.provider, sessionId: view.sessionId });
    if (!session) return view;
    return { ...view, asks: view.asks.map((ask) => addInfo(ask, session, inFull)) };
  };
}

/** Why an open ask without a pending request cannot be answered from here. */
export function explainUnanswerable(
  session: Session,
  ask: Ask,
  answering: AnswerSupport | null | undefined,
  isEnabled: boolean,
): string {
  const ownReason = answering?.whyUnanswerable;
  if (ask.agentId !== null && ownReason === undefined)
    return "a subagent asks, and the agent would not show its dialog while beckon waits for you";
  if (session.attended === false) return "the session runs unattended";
  if (!isBlocking(ask) || ask.kind === "elicitation") return "only the terminal can answer this";
  if (!isEnabled) return "answering is turned off in your settings";
  if (ownReason !== undefined) return ownReason;
  if (ask.request === null) return "no hook has reported what it asks";
  return "its hook does not wait for an answer (beckon was restarted since, or the hook is an older one)";
}
