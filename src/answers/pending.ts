/**
 * Permission requests whose hooks wait for the user. An answer goes to one of them, once, and becomes a decision only here.
 * If the ask ends in any other way, its hook gets `{}` and the terminal's dialog decides as if beckon were not there.
 */

import type { WatchedRequest } from "../agents/agent.ts";
import type { LoadedAgents } from "../agents/index.ts";
import { endingOfAnswer } from "../core/answers/ending.ts";
import { type AnswerStep, createStep, judgeAnswer } from "../core/answers/policy.ts";
import { describeAnswer, explainVerdict, formatAnswer, waitMessage } from "../core/answers/words.ts";
import type { Config } from "../core/config/config.ts";
import type { ActionRefused, HookConnection, PendingHooks, Schedule } from "../core/interfaces/index.ts";
import { limits } from "../core/limits.ts";
import type { Answer, AskDetails } from "../core/session/ask-details.ts";
import type { AgentEvent, ClockReading } from "../core/session/event.ts";
import { answerIdOf } from "../core/session/keys.ts";
import { type Ask, isVisible, type Session } from "../core/session/session.ts";
import type { SessionRefLike } from "../core/session/session-ref.ts";
import { settle } from "../core/session/settle.ts";
import { timing } from "../core/timing.ts";
import type { SessionView } from "../core/view/session-view.ts";
import type { RuleJudge } from "../rules/judge.ts";
import { schedule } from "../system/schedule.ts";
import { createAnswerInfo, explainUnanswerable } from "./answer-info.ts";
import { createDecisionDelivery, formatGivenAnswer } from "./decision-delivery.ts";
import type { OtherChanges } from "./other-changes.ts";
import { createPendingList, noDecision } from "./pending-list.ts";
import {
  createRequestReader,
  describeMasked,
  type GivenAnswer,
  type MaskedDetails,
  noticeChangedLinks,
  type PendingRequest,
} from "./pending-request.ts";
import { createRuleAnswers } from "./rule-answers.ts";

export interface PendingRequestsOptions {
  readonly agents: LoadedAgents;
  /** Decisions are signed with it. */
  readonly key: string;
  /** The user's home folder. */
  readonly home: string;
  readonly clock: () => ClockReading;
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly dispatch: (event: AgentEvent) => void;
  readonly config: () => Pick<Config, "answering">;
  /** The rules that the user made from their answers. */
  readonly rules?: RuleJudge;
  /** Absent if nothing says what other sessions change. */
  readonly otherChanges?: OtherChanges;
  readonly onAnswered: (answer: GivenAnswer) => void;
  /** What can be answered has changed. */
  readonly onChange: () => void;
  readonly onError: (text: string) => void;
  /** Masks secrets in a JSON text. */
  readonly maskJson: (json: string) => string;
  /** For tests. */
  readonly schedule?: Schedule;
  readonly heartbeatMs?: number;
  readonly confirmMs?: number;
}

export interface PendingRequests extends PendingHooks {
  /** The same for a request that an agent's watcher answers. Returns a function to call when the request is over. */
  addWatched(agent: string, request: WatchedRequest): () => void;
  /** What the user is asked, in full; null if it cannot be answered from here. */
  details(ask: Ask): AskDetails | null;
  /** The same without secrets, for what leaves this machine. */
  maskedDetails(ask: Ask): MaskedDetails | null;
  /** Resolves with a text if the answer itself is invalid. `step`: what the user saw and did before it. */
  answer(
    session: Session,
    answerId: string,
    answer: Answer,
    step: AnswerStep,
  ): Promise<AnswerAccepted | ActionRefused | string>;
  /** Adds to a view what can be answered and, `inFull`, everything that is asked. */
  addAnswerInfo(view: SessionView, inFull?: boolean): SessionView;
  /** Without the asks that a rule is answering at this moment, or may answer in a moment: they are over before anybody could see them. */
  withoutAnswering(sessions: readonly Session[]): readonly Session[];
  /** The session changed: an ask may be over. */
  follow(session: Session): void;
  /** Settings or time may have ended an ask. */
  recheck(): void;
  /** Closes every connection without a decision: the hooks look for the next beckon. */
  stop(): void;
}

export interface AnswerAccepted {
  readonly ok: true;
  readonly answered: string;
}

const refuse = (error: string): ActionRefused => ({ refused: 409, error });

export function createPendingRequests(options: PendingRequestsOptions): PendingRequests {
  const { agents, clock, config } = options;
  const isEnabled = () => config().answering.enabled;

  function getSettled(ref: SessionRefLike): Session | null {
    const session = options.get(ref);
    return session && settle(session, clock().t);
  }

  const reader = createRequestReader({ ...options, getSettled });
  const list = createPendingList({
    ...options,
    getSettled,
    isEnabled,
    heartbeatMs: options.heartbeatMs ?? timing.pendingHeartbeatMs,
  });
  const delivery = createDecisionDelivery({
    ...options,
    list,
    getSettled,
    confirmMs: options.confirmMs ?? timing.confirmDecisionMs,
  });
  const findRequest = (ask: Ask): PendingRequest | null => list.get(ask.request ?? "");

  const explain = (session: Session, ask: Ask): string =>
    explainUnanswerable(session, ask, agents.get(session.agent)?.answering, isEnabled());
  const addAnswerInfo = createAnswerInfo({
    getSettled,
    findRequest(ask) {
      const request = findRequest(ask);
      return request && { details: describePending(request), sent: request.sent };
    },
    explain,
  });
  const ruleAnswers = createRuleAnswers({
    ...options,
    getSettled,
    isPending: (request) => list.get(request) !== null,
    isSentByRule: (request) => list.get(request)?.sent?.answer.how === "rule",
    isAnswered: (agent) => isEnabled() && agents.get(agent)?.answering !== undefined,
    schedule: options.schedule ?? schedule,
    allow: (session, ask, by) =>
      answer(session, answerIdOf(ask), { do: "allow" }, createStep("rule", { by })),
  });

  function add(envelope: string, connection: HookConnection): void {
    let request: PendingRequest | null = null;
    try {
      request = isEnabled() ? reader.parse(envelope, connection) : null;
    } catch (error) {
      options.onError(`a permission hook could not be kept waiting: ${error}`);
    }
    if (request && list.add(request)) {
      ruleAnswers.onAdded(request);
      return;
    }
    connection.send(noDecision);
    connection.close();
  }

  function addWatched(agent: string, { request, sessionId, payload, send }: WatchedRequest): () => void {
    let onClosed = () => {};
    const close = () => onClosed();
    const connection: HookConnection = {
      send: () => true,
      close: () => {},
      onClosed(listener) {
        onClosed = listener;
      },
    };
    const deliver = (decision: string): boolean => {
      const isSent = send(JSON.parse(decision));
      const waiting = list.get(request);
      // The agent has it: there is no hook that would confirm it.
      if (isSent && waiting) queueMicrotask(() => delivery.onPrinted(waiting));
      return isSent;
    };
    const created = reader.create({ agent, sessionId, request, payload, connection, deliver });
    if (created && isEnabled() && !list.get(request) && list.add(created)) ruleAnswers.onAdded(created);
    return close;
  }

  /** The one place where an answer becomes a decision. */
  async function answer(
    session: Session,
    answerId: string,
    chosen: Answer,
    step: AnswerStep,
  ): Promise<AnswerAccepted | ActionRefused | string> {
    const settled = settle(session, clock().t);
    const ask = settled.asks.find((open) => isVisible(open) && answerIdOf(open) === answerId);
    if (!ask) {
      const answered = delivery.findAnswer(answerId) ?? "it was answered in the terminal, or ended";
      return refuse(`this ask is gone: ${answered}`);
    }
    const request = findRequest(ask);
    if (!request) return refuse(`this ask cannot be answered from here: ${explain(settled, ask)}`);
    if (request.sent) return refuse(`this ask is gone: ${formatGivenAnswer(request.sent.answer)}`);
    const userAnswer = addWaitMessage(chosen, request.details);
    const isYes = userAnswer.do === "allow" || userAnswer.do === "always";
    if (isYes && noticeChangedLinks(request)) options.onChange();
    if (isYes && request.changed !== null) return refuse(request.changed);
    const decision = makeDecision(request, userAnswer, step);
    if (typeof decision === "string" || "refused" in decision) return decision;
    const outcome = formatAnswer(userAnswer, request.details);
    const by = step.by ?? step.front;
    const isRule = step.front === "rule";
    const detail = isRule ? by.replace(/^rule /, "") : describeAnswer(userAnswer, request.details).detail;
    const how = isRule ? "rule" : endingOfAnswer(userAnswer, ask.kind);
    const given = { session: settled, ask, outcome, how, detail, by };
    const doubt = await delivery.send(request, decision.text, given);
    if (doubt === null) return { ok: true, answered: outcome };
    return refuse(`your answer may not have arrived: ${doubt}. Look at the terminal`);
  }

  return {
    add,
    addWatched,
    end(id, how) {
      const request = list.get(id);
      if (!request) return;
      if (how === "printed") delivery.onPrinted(request);
      else delivery.onStopped(request);
    },
    details(ask) {
      const request = findRequest(ask);
      return request && describePending(request);
    },
    maskedDetails(ask) {
      const request = findRequest(ask);
      if (!request) return null;
      request.masked ??= describeMasked(request, options.maskJson);
      return request.masked;
    },
    answer,
    addAnswerInfo,
    withoutAnswering: ruleAnswers.withoutAnswering,
    follow: list.follow,
    recheck: list.recheck,
    stop: list.stop,
  };
}

/** A denial without words means that the session has to wait, where another one works on the same file. */
function addWaitMessage(answer: Answer, { otherChangesAt, takesNoReason }: AskDetails): Answer {
  const isWait = answer.do === "deny" && answer.message === null && otherChangesAt !== undefined;
  return isWait && !takesNoReason ? { do: "deny", message: waitMessage } : answer;
}

/** What is shown of a request that waits. */
function describePending({ details, precedent }: PendingRequest): AskDetails {
  return precedent === null ? details : { ...details, precedent };
}

/** Asks the policy, then the agent. Returns a text if the answer itself is invalid. */
function makeDecision(
  { details, answering, payload }: PendingRequest,
  answer: Answer,
  step: AnswerStep,
): { readonly text: string } | ActionRefused | string {
  const verdict = judgeAnswer(details, answer, step);
  if (verdict.kind !== "allowed") {
    const error = explainVerdict(verdict, details, answer);
    return verdict.kind === "refused" && verdict.why === "unfit" ? error : { refused: 403, error };
  }
  const decision = answering.decide(payload, answer);
  if (typeof decision === "string") return decision;
  const text = JSON.stringify(decision);
  return Buffer.byteLength(text) > limits.maxDecisionBytes ? "the answer is too long" : { text };
}
