/** A decision's way to the hook that waits for it: sent once, confirmed by the hook, and then the ask is over. */
import { nameEnding, nameOwnPlace } from "../core/answers/words.ts";
import { forgetOldest } from "../core/forget-oldest.ts";
import { type AgentEvent, createInternalEvent } from "../core/session/event.ts";
import { answerIdOf } from "../core/session/keys.ts";
import { waitAtMost } from "../system/schedule.ts";
import type { PendingList, PendingListOptions } from "./pending-list.ts";
import {
  type DeliveryConfirmation,
  findAsk,
  type GivenAnswer,
  type PendingRequest,
} from "./pending-request.ts";

export interface DecisionDeliveryOptions extends Pick<PendingListOptions, "clock" | "get" | "getSettled"> {
  readonly list: PendingList;
  readonly dispatch: (event: AgentEvent) => void;
  readonly onAnswered: (answer: GivenAnswer) => void;
  readonly confirmMs: number;
}

export interface DecisionDelivery {
  /** Resolves with why it is not certain that the agent has the decision; null if it has. */
  send(request: PendingRequest, decision: string, given: GivenAnswer): Promise<string | null>;
  /** The agent has the decision, so the ask is over before the agent itself reports it. */
  onPrinted(request: PendingRequest): void;
  /** The agent ended its hook: "No", Esc or /exit in the terminal. If there is a status file, it says which. */
  onStopped(request: PendingRequest): void;
  /** How an ask was answered, for a second answer that comes too late. null if it was not, or long ago. */
  findAnswer(answerId: string): string | null;
}

const maxRemembered = 500;

export function createDecisionDelivery(options: DecisionDeliveryOptions): DecisionDelivery {
  const { list, clock, confirmMs } = options;
  /** Answer id → how it was answered. */
  const answeredAsks = new Map<string, string>();

  function closeAsk({ agent, sessionId, request }: PendingRequest): void {
    const now = clock();
    const newestT = options.get({ agent, sessionId })?.newest ?? now.t;
    const when = { at: now.at, t: Math.max(now.t, newestT) };
    const change = { kind: "ask-answered", request } as const;
    options.dispatch(createInternalEvent(`answered-${request}`, when, { agent, sessionId }, change));
  }

  return {
    async send(request, decision, given) {
      const { promise, resolve } = Promise.withResolvers<DeliveryConfirmation>();
      request.sent = { answer: given, confirm: resolve };
      if (!request.deliver(decision)) resolve("closed");
      const confirmation = await waitAtMost(confirmMs, promise);
      if (confirmation === "printed") return null;
      return confirmation === "closed"
        ? "its hook ended before it came"
        : "its hook has not confirmed it yet";
    },
    onPrinted(request) {
      if (!request.sent) return;
      const { answer: given, confirm } = request.sent;
      answeredAsks.set(answerIdOf(given.ask), formatGivenAnswer(given));
      forgetOldest(answeredAsks, maxRemembered);
      confirm("printed");
      list.remove(request);
      request.connection.close();
      closeAsk(request);
      options.onAnswered(given);
    },
    onStopped(request) {
      const session = options.getSettled(request);
      const ask = findAsk(session, request.request);
      list.remove(request);
      request.connection.close();
      if (!session || !ask || session.file !== null) return;
      closeAsk(request);
      options.onAnswered({
        session,
        ask,
        outcome: nameEnding("denied", ask.kind),
        how: "denied",
        by: nameOwnPlace(session.place),
      });
    },
    findAnswer: (answerId) => answeredAsks.get(answerId) ?? null,
  };
}

export function formatGivenAnswer({ outcome, by }: GivenAnswer): string {
  return `${outcome} (${by})`;
}
