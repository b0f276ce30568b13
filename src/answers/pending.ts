/**
 * Permission requests whose hooks wait for the user. An answer goes to one of them, once, and becomes a decision only here.
 * If the ask ends in any other way, its hook gets `{}` and the terminal's dialog decides as if beckon were not there.
 */

import type { AnswerSupport, RequestContext, WatchedRequest } from "../agents/agent.ts";
import { openEnvelope } from "../agents/envelope.ts";
import type { LoadedAgents } from "../agents/index.ts";
import { endingOfAnswer } from "../core/answers/ending.ts";
import { type AnswerStep, createStep, judgeAnswer } from "../core/answers/policy.ts";
import { explainVerdict, formatAnswer, inTerminal, leftInTerminal } from "../core/answers/words.ts";
import type { Config } from "../core/config/config.ts";
import { forgetOldest } from "../core/forget-oldest.ts";
import type { ActionRefused, AskEnd, HookConnection, PendingHooks } from "../core/interfaces/index.ts";
import { asRecord, isRecord, type JsonRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import type { Answer, AskDetails } from "../core/session/ask-details.ts";
import { type AgentEvent, type ClockReading, createInternalEvent } from "../core/session/event.ts";
import { answerIdOf } from "../core/session/keys.ts";
import { isProbe } from "../core/session/probe.ts";
import { type Ask, isBlocking, isVisible, type Session } from "../core/session/session.ts";
import { isSameSession, type SessionRefLike } from "../core/session/session-ref.ts";
import { findSettleTime, settle } from "../core/session/settle.ts";
import { hashJson } from "../core/text/json-text.ts";
import { timing } from "../core/timing.ts";
import type { AskSnapshot, SessionSnapshot } from "../core/view/snapshot.ts";
import { signDecision } from "../system/decision-signature.ts";
import { diskLinks, staysInside } from "./real-paths.ts";

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
  readonly onAnswered: (answer: GivenAnswer) => void;
  /** What can be answered has changed. */
  readonly onChange: () => void;
  readonly onError: (text: string) => void;
  /** Masks secrets in a JSON text. */
  readonly maskJson: (json: string) => string;
  /** For tests. */
  readonly heartbeatMs?: number;
  readonly confirmMs?: number;
}

export interface MaskedDetails {
  /** null if it cannot be described without its secrets. */
  readonly details: AskDetails | null;
  /** Something in it was masked, so it does not show exactly what would run. */
  readonly hasSecret: boolean;
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
  /** Adds to a snapshot what can be answered and, `inFull`, everything that is asked. */
  addAnswerInfo(snapshot: SessionSnapshot, inFull?: boolean): SessionSnapshot;
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

export type GivenAnswer = Omit<AskEnd, "at">;

interface PendingRequest {
  /** The id of the event that asked. */
  readonly request: string;
  readonly agent: string;
  readonly sessionId: string;
  readonly connection: HookConnection;
  /** Sends a decision, as JSON text. False if the other side is gone. */
  readonly deliver: (decision: string) => boolean;
  /** Exact and unmasked: kept in memory only, and no longer than the connection. */
  readonly payload: JsonRecord;
  readonly answering: AnswerSupport;
  details: AskDetails;
  /** Why it can be allowed only in the terminal, though it was shown in full. null if it can be allowed. */
  changed: string | null;
  /** Created when it is first needed. */
  masked: MaskedDetails | null;
  readonly context: RequestContext;
  readonly sinceT: number;
  /** The answer that was sent, until the hook confirms it. */
  sent: { readonly answer: GivenAnswer; readonly confirm: (how: Confirmation) => void } | null;
}

type Confirmation = "printed" | "closed" | "timeout";

const noDecision = "{}\n";
const heartbeat = "\n";
const maxRemembered = 500;
const refuse = (error: string): ActionRefused => ({ refused: 409, error });

export function createPendingRequests(options: PendingRequestsOptions): PendingRequests {
  const {
    clock,
    config,
    heartbeatMs = timing.pendingHeartbeatMs,
    confirmMs = timing.confirmDecisionMs,
  } = options;
  const agentDangers = [...options.agents.values()].flatMap(({ dangers }) => dangers ?? []);
  /** By the id of the event that asked. */
  const pending = new Map<string, PendingRequest>();
  /** Answer id → how it was answered, for a second answer that comes too late. */
  const answeredAsks = new Map<string, string>();
  /** Request → a hash of what the user was asked: the same request cannot ask for something else later. */
  const asked = new Map<string, string>();
  let heartbeatTimer: ReturnType<typeof setInterval> | null = null;
  let settleTimer: ReturnType<typeof setTimeout> | null = null;
  let isStopped = false;

  function getSettled(ref: SessionRefLike): Session | null {
    const session = options.get(ref);
    return session && settle(session, clock().t);
  }

  function add(envelope: string, connection: HookConnection): void {
    const isEnabled = config().answering.enabled && !isStopped;
    let request: PendingRequest | null = null;
    try {
      request = isEnabled ? parseRequest(envelope, connection) : null;
    } catch (error) {
      options.onError(`a permission hook could not be kept waiting: ${error}`);
    }
    const earlier = request && pending.get(request.request);
    const isAccepted = earlier ? earlier.sent === null : pending.size < limits.maxPendingRequests;
    if (request && isAccepted && rememberAsked(request)) {
      keep(request);
    } else {
      connection.send(noDecision);
      connection.close();
    }
  }

  /** null if the hook must not wait. */
  function parseRequest(envelope: string, connection: HookConnection): PendingRequest | null {
    const body = parseJson(envelope);
    const hook = openEnvelope(body, "", clock().host);
    const request = hook?.meta.id ?? null;
    // A payload that was shortened to fit cannot be shown in full, so it cannot be answered.
    const isShortened = isRecord(body) && isRecord(body._meta) && body._meta.cut === true;
    if (!hook || request === null || isShortened) return null;
    const { payload, provider: agent, meta } = hook;
    const sessionId = options.agents.get(agent)?.answering?.findSessionId(payload) ?? null;
    if (sessionId === null || meta.attended === false) return null;
    const deliver = (decision: string) =>
      connection.send(`${signDecision(options.key, request, decision)}\n`);
    return createRequest({ agent, sessionId, request, payload, connection, deliver });
  }

  /** null if the request cannot be answered from here. */
  function createRequest(
    source: Pick<PendingRequest, "agent" | "sessionId" | "request" | "payload" | "connection" | "deliver">,
  ): PendingRequest | null {
    const { agent, payload } = source;
    const answering = options.agents.get(agent)?.answering;
    const session = getSettled(source);
    const ask = findAsk(session, source.request);
    if (!answering || !session || !ask || isProbe(session)) return null;
    if (!answering.isAnswerable(payload, ask) || session.attended === false) return null;
    const cwd = session.firstCwd ?? session.cwd;
    // On another machine, or in a container, `~` is another folder.
    const home = session.place?.local === true ? options.home : null;
    const context = { cwd, home, agentDangers, links: diskLinks };
    const details = answering.describe(payload, context);
    return (
      details && {
        ...source,
        answering,
        details,
        changed: null,
        masked: null,
        context,
        sinceT: clock().t,
        sent: null,
      }
    );
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
      const waiting = pending.get(request);
      // The agent has it: there is no hook that would confirm it.
      if (isSent && waiting) queueMicrotask(() => onPrinted(waiting));
      return isSent;
    };
    const created = createRequest({ agent, sessionId, request, payload, connection, deliver });
    const isAccepted = created && config().answering.enabled && !isStopped && !pending.has(request);
    if (isAccepted && pending.size < limits.maxPendingRequests && rememberAsked(created)) keep(created);
    return close;
  }

  /**
   * False if the same request asked for something else before: a message on a phone or a notification may still show that, and
   * its buttons would answer this.
   */
  function rememberAsked({ request, details }: PendingRequest): boolean {
    const hash = hashJson(details);
    const before = asked.get(request);
    asked.delete(request);
    asked.set(request, before ?? hash);
    forgetOldest(asked, maxRemembered);
    return before === undefined || before === hash;
  }

  /**
   * Masks the payload before it is described: a description is wrapped and cut, and half of a secret is not recognised as one.
   */
  function describeMasked({ payload, details, answering, context }: PendingRequest): MaskedDetails {
    const json = JSON.stringify(payload);
    const masked = options.maskJson(json);
    if (masked === json) return { details, hasSecret: false };
    const shown = answering.describe(asRecord(JSON.parse(masked)), context);
    return { details: shown, hasSecret: JSON.stringify(shown) !== JSON.stringify(details) };
  }

  function keep(request: PendingRequest): void {
    const earlier = pending.get(request.request);
    if (earlier) release(earlier);
    pending.set(request.request, request);
    request.connection.onClosed(() => {
      if (pending.get(request.request) === request) remove(request);
      request.sent?.confirm("closed");
    });
    request.connection.send(heartbeat);
    heartbeatTimer ??= setInterval(sendHeartbeats, heartbeatMs);
    answerByRule(request).catch((error) => options.onError(`a rule could not be checked: ${error}`));
    recheckWhenSettled();
    options.onChange();
  }

  async function answerByRule(request: PendingRequest): Promise<void> {
    const byRule = createStep("rule");
    if (judgeAnswer(request.details, { do: "allow" }, byRule).kind !== "allowed") return;
    const rules = config().answering.autoAllow;
    const allowed = request.answering.autoAllow(rules, request.payload, request.context);
    if (allowed === null || !(await staysInside(allowed))) return;
    const session = getSettled(request);
    const ask = findAsk(session, request.request);
    const step = { ...byRule, by: `rule ${allowed.rule}` };
    if (session && ask) await answer(session, answerIdOf(ask), { do: "allow" }, step);
  }

  function remove(request: PendingRequest): void {
    pending.delete(request.request);
    if (pending.size === 0 && heartbeatTimer) {
      clearInterval(heartbeatTimer);
      heartbeatTimer = null;
    }
    options.onChange();
  }

  function release(request: PendingRequest): void {
    remove(request);
    request.connection.send(noDecision);
    request.connection.close();
  }

  function releaseIfOver(request: PendingRequest, session: Session | null): void {
    // An answer that was sent is for the hook to confirm.
    if (request.sent && session && !session.ended) return;
    if (!config().answering.enabled || !findAsk(session, request.request)) release(request);
  }

  function sendHeartbeats(): void {
    const { t } = clock();
    for (const request of [...pending.values()]) {
      if (t - request.sinceT > timing.maxPendingMs) release(request);
      else request.connection.send(heartbeat);
    }
    recheck();
  }

  function recheck(): void {
    for (const request of [...pending.values()]) {
      releaseIfOver(request, getSettled(request));
    }
    recheckWhenSettled();
  }

  /** Some time after the last event the agent's status file decides, without another event. */
  function recheckWhenSettled(): void {
    if (settleTimer) clearTimeout(settleTimer);
    settleTimer = null;
    const { t } = clock();
    let nextT = Number.POSITIVE_INFINITY;
    for (const request of pending.values()) {
      const session = options.get(request);
      nextT = Math.min(nextT, (session && findSettleTime(session, t)) ?? Number.POSITIVE_INFINITY);
    }
    if (Number.isFinite(nextT) && !isStopped) settleTimer = setTimeout(recheck, nextT - t + 1);
  }

  /** The one place where an answer becomes a decision. */
  async function answer(
    session: Session,
    answerId: string,
    userAnswer: Answer,
    step: AnswerStep,
  ): Promise<AnswerAccepted | ActionRefused | string> {
    const settled = settle(session, clock().t);
    const ask = settled.asks.find((open) => isVisible(open) && answerIdOf(open) === answerId);
    if (!ask)
      return refuse(
        `this ask is gone: ${answeredAsks.get(answerId) ?? "it was answered in the terminal, or ended"}`,
      );
    const request = findRequest(ask);
    if (!request)
      return refuse(`this ask cannot be answered from here: ${explainUnanswerable(settled, ask)}`);
    if (request.sent) return refuse(`this ask is gone: ${formatGivenAnswer(request.sent.answer)}`);
    const isYes = userAnswer.do === "allow" || userAnswer.do === "always";
    if (isYes) lookAgain(request);
    if (isYes && request.changed !== null) return refuse(request.changed);
    const verdict = judgeAnswer(request.details, userAnswer, step);
    const error = verdict.kind === "allowed" ? null : explainVerdict(verdict, request.details, userAnswer.do);
    const isUnfit = verdict.kind === "refused" && verdict.why === "unfit";
    if (error !== null && !isUnfit) return { refused: 403, error };
    const decision = request.answering.decide(request.payload, userAnswer);
    // The agent says best what would answer it.
    if (typeof decision === "string") return decision;
    if (error !== null) return error;
    const text = JSON.stringify(decision);
    if (Buffer.byteLength(text) > limits.maxDecisionBytes) return "the answer is too long";
    return send(request, text, {
      session: settled,
      ask,
      outcome: formatAnswer(userAnswer, request.details),
      how: step.front === "rule" ? "rule" : endingOfAnswer(userAnswer, ask.kind),
      by: step.by ?? step.front,
    });
  }

  /**
   * A link may lead elsewhere since the request was shown. Then it cannot be allowed from here any more: a message on a phone or
   * a notification may still show what it was.
   */
  function lookAgain(request: PendingRequest): void {
    const { answering, payload, context, details } = request;
    const now = answering.describe(payload, context) ?? details;
    if (request.changed !== null || hashJson(now) === hashJson(details)) return;
    request.changed = `a link was changed after this was shown, so it would not do what you saw: ${now.heading}. Look at it in the terminal`;
    const warning = "a link was changed after this was first shown";
    request.details = { ...now, isWhole: false, dangers: [warning, ...now.dangers] };
    request.masked = null;
    options.onChange();
  }

  async function send(
    request: PendingRequest,
    decision: string,
    given: GivenAnswer,
  ): Promise<AnswerAccepted | ActionRefused> {
    const { promise, resolve } = Promise.withResolvers<Confirmation>();
    request.sent = { answer: given, confirm: resolve };
    if (!request.deliver(decision)) resolve("closed");
    const timer = setTimeout(resolve, confirmMs, "timeout");
    const confirmation = await promise;
    clearTimeout(timer);
    if (confirmation === "printed") return { ok: true, answered: given.outcome };
    const reason =
      confirmation === "closed" ? "its hook ended before it came" : "its hook has not confirmed it yet";
    return refuse(`your answer may not have arrived: ${reason}. Look at the terminal`);
  }

  /** The agent has the decision, so the ask is over before the agent itself reports it. */
  function onPrinted(request: PendingRequest): void {
    if (!request.sent) return;
    const { answer: given, confirm } = request.sent;
    answeredAsks.set(answerIdOf(given.ask), formatGivenAnswer(given));
    forgetOldest(answeredAsks, maxRemembered);
    confirm("printed");
    remove(request);
    request.connection.close();
    closeAsk(request);
    options.onAnswered(given);
  }

  /** The agent ended its hook: "No", Esc or /exit in the terminal. If there is a status file, it says which. */
  function onStopped(request: PendingRequest): void {
    const session = getSettled(request);
    const ask = findAsk(session, request.request);
    remove(request);
    request.connection.close();
    if (!session || !ask || session.file !== null) return;
    closeAsk(request);
    options.onAnswered({ session, ask, outcome: leftInTerminal.exit, how: "denied", by: inTerminal });
  }

  function closeAsk({ agent, sessionId, request }: PendingRequest): void {
    const now = clock();
    const newestT = options.get({ agent, sessionId })?.newest ?? now.t;
    const when = { at: now.at, t: Math.max(now.t, newestT) };
    const change = { kind: "ask-answered", request } as const;
    options.dispatch(createInternalEvent(`answered-${request}`, when, { agent, sessionId }, change));
  }

  const findRequest = (ask: Ask): PendingRequest | null => pending.get(ask.request ?? "") ?? null;

  /** Why an open ask without a pending request cannot be answered from here. */
  function explainUnanswerable(session: Session, ask: Ask): string {
    const ownReason = options.agents.get(session.agent)?.answering?.whyUnanswerable;
    if (ask.agentId !== null && ownReason === undefined)
      return "a subagent asks, and the agent would not show its dialog while beckon waits for you";
    if (session.attended === false) return "the session runs unattended";
    if (!isBlocking(ask) || ask.kind === "elicitation") return "only the terminal can answer this";
    if (!config().answering.enabled) return "answering is turned off in your settings";
    if (ownReason !== undefined) return ownReason;
    if (ask.request === null) return "no hook has reported what it asks";
    return "its hook does not wait for an answer (beckon was restarted since, or the hook is an older one)";
  }

  function addInfo(snapshot: AskSnapshot, session: Session, inFull: boolean): AskSnapshot {
    const ask = session.asks.find(({ id }) => id === snapshot.id);
    if (!ask) return snapshot;
    const request = findRequest(ask);
    if (!request) return inFull ? { ...snapshot, why: explainUnanswerable(session, ask) } : snapshot;
    const { details, sent } = request;
    const answerable = sent === null;
    return {
      ...snapshot,
      answerable,
      ...(answerable ? { answerId: answerIdOf(ask) } : {}),
      ...(answerable && details.dangers.length > 0 ? { dangers: details.dangers } : {}),
      ...(inFull ? { asked: details } : {}),
    };
  }

  return {
    add,
    addWatched,
    end(id, how) {
      const request = pending.get(id);
      if (!request) return;
      if (how === "printed") onPrinted(request);
      else onStopped(request);
    },
    details: (ask) => findRequest(ask)?.details ?? null,
    maskedDetails(ask) {
      const request = findRequest(ask);
      if (!request) return null;
      request.masked ??= describeMasked(request);
      return request.masked;
    },
    answer,
    addAnswerInfo(snapshot, inFull = false) {
      const session =
        snapshot.asks.length === 0
          ? null
          : getSettled({ agent: snapshot.provider, sessionId: snapshot.sessionId });
      if (!session) return snapshot;
      return { ...snapshot, asks: snapshot.asks.map((ask) => addInfo(ask, session, inFull)) };
    },
    follow(changed) {
      if (pending.size === 0) return;
      const session = getSettled(changed);
      for (const request of [...pending.values()]) {
        if (isSameSession(request, changed)) releaseIfOver(request, session);
      }
      recheckWhenSettled();
    },
    recheck,
    stop() {
      isStopped = true;
      if (heartbeatTimer) clearInterval(heartbeatTimer);
      if (settleTimer) clearTimeout(settleTimer);
      const connections = [...pending.values()].map(({ connection }) => connection);
      pending.clear();
      for (const connection of connections) connection.close();
    },
  };
}

function findAsk(session: Session | null, request: string): Ask | null {
  return session?.asks.find((ask) => ask.request === request) ?? null;
}

function formatGivenAnswer({ outcome, by }: GivenAnswer): string {
  return `${outcome} (${by})`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
