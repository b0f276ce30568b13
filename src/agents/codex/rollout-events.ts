/** Translates what a rollout file says about a session to events, where no hook reports it. */
import type { Change, EventSubject } from "../../core/session/event.ts";
import type { Session } from "../../core/session/session.ts";
import { toOneLine } from "../one-line.ts";
import { askUser } from "./payload.ts";
import type { RolloutSign, RolloutState } from "./rollout.ts";

export interface RolloutEvent extends Partial<Pick<EventSubject, "promptId" | "name">> {
  readonly change: Change;
}

/** null if the session shows already what happened. */
export function createSignEvent(
  session: Session,
  sign: RolloutSign,
  mask: (text: string) => string,
): RolloutEvent | null {
  if (session.ended) return null;
  if (sign.kind === "call-ended") {
    const call = session.tools.find(({ toolUseId, ended }) => toolUseId === sign.callId && !ended);
    if (!call) return null;
    const { tool, toolUseId } = call;
    return { change: { kind: "tool-end", tool, toolUseId, outcome: "ok", skill: null } };
  }
  if (!isCurrentTurn(session, sign.turnId)) return null;
  if (sign.kind === "turn-aborted") return session.turn.running ? { change: { kind: "interrupted" } } : null;
  const { error, lastResponse, turnId: promptId } = sign;
  const isUnknownError = error !== null && session.turn.error === null;
  // After the Stop hook, the row ends nothing: "Implement this plan?" can be on the screen.
  const isRunning = session.turn.running && !isStopped(session);
  if (!isRunning && !isUnknownError) return null;
  const change = {
    kind: "turn-end",
    error: error === null ? null : mask(error),
    lastResponse: lastResponse === null ? null : mask(lastResponse),
    background: null,
  } as const;
  return { promptId, change };
}

const isCurrentTurn = ({ promptId }: Session, turnId: string): boolean =>
  promptId === null || promptId === turnId;

/** The Stop hook of the last turn has come. */
const isStopped = ({ stopped, prompted }: Session): boolean =>
  stopped !== null && prompted !== null && stopped.t >= prompted.t;

export interface RolloutAsk extends RolloutEvent {
  /** The call or the turn that asks. */
  readonly id: string;
}

/**
 * The next question of Plan mode, and the plan that is shown after the turn. In Default mode Codex refuses the question itself.
 * `asked`: the calls and turns whose asks are open already, or were.
 */
export function listNewAsks(
  session: Session,
  { turn, calls }: RolloutState,
  asked: ReadonlySet<string>,
  mask: (text: string) => string,
): readonly RolloutAsk[] {
  if (session.ended || turn === null || !isCurrentTurn(session, turn.id)) return [];
  const asks: RolloutAsk[] = [];
  const question = session.tools.find(
    ({ tool, toolUseId, ended, agentId }) =>
      tool === askUser && !ended && agentId === null && toolUseId !== null && !asked.has(toolUseId),
  );
  if (question?.toolUseId && turn.isPlanMode) {
    const { toolUseId, inputKey, summary } = question;
    const questions = calls.get(toolUseId)?.questions ?? [];
    const options = (questions[0]?.options ?? []).map(({ label }) => mask(toOneLine(label)));
    asks.push({
      id: toolUseId,
      promptId: turn.id,
      name: "request_user_input",
      change: {
        kind: "ask",
        ask: "question",
        tool: askUser,
        inputKey,
        toolUseId,
        summary: mask(summary),
        options,
        ...(questions.length > 1 ? { questions: questions.length } : {}),
      },
    });
  }
  if (turn.plan !== null && !session.turn.running && !asked.has(turn.id)) {
    const summary = mask(toOneLine(turn.plan));
    asks.push({
      id: turn.id,
      promptId: turn.id,
      name: "proposed_plan",
      change: { kind: "ask", ask: "plan", tool: null, inputKey: null, summary, options: [] },
    });
  }
  return asks;
}
