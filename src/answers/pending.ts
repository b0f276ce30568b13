import type { LoadedAgents } from "../agents/index.ts";
import type { Config } from "../core/config/config.ts";
import { limits } from "../core/limits.ts";
import type { ActionRefused, HoldHandler, HookConnection } from "../core/ports.ts";
import type { Answer, AskDetails } from "../core/session/ask-details.ts";
import { type AgentEvent, type ClockReading, createInternalEvent } from "../core/session/event.ts";
import { answerIdOf } from "../core/session/keys.ts";
import { type Ask, isVisible, type Session } from "../core/session/session.ts";
import { settle, settlesAt } from "../core/session/settle.ts";
import { timing } from "../core/timing.ts";
import type { SessionSnapshot } from "../core/view/snapshot.ts";
import { signDecision } from "../system/decision-signature.ts";
import { areInside } from "./links.ts";
import { acceptRequest, type Confirmation, findAsk, type PendingRequest } from "./request.ts";
import { addAnswerInfo } from "./snapshot.ts";
import { answeredByText, answerText, type GivenAnswer, whyNotAnswerable } from "./text.ts";

export interface PendingRequestsOptions {
  readonly agents: LoadedAgents;
  /** Decisions are proved with it. */
  readonly key: string;
  readonly clock: () => ClockReading;
  readonly get: (agent: string, sessionId: string) => Session | null;
  readonly dispatch: (event: AgentEvent) => void;
  readonly config: () => Pick<Config, "answering">;
  readonly onVerdict: (verdict: GivenAnswer) => void;
  /** What can be answered has changed. */
  readonly onChange: () => void;
  readonly onError: (text: string) => void;
  /** For tests. */
  readonly beatMs?: number;
  readonly confirmMs?: number;
}

export interface PendingRequests extends HoldHandler {
  /** What is asked, in full; null: it cannot be answered from here. */
  details(ask: Ask): AskDetails | null;
  /** A text: what is wrong with the answer itself. */
  answer(
    session: Session,
    name: string,
    answer: Answer,
    by: string,
  ): Promise<AnswerAccepted | ActionRefused | string>;
  /** The session as others see it, with what can be answered; `inFull`: and with all that is asked. */
  addAnswerInfo(snapshot: SessionSnapshot, inFull?: boolean): SessionSnapshot;
  follow(session: Session): void;
  /** Settings or time may have ended an ask. */
  recheck(): void;
  /** Lets go of every line without a word: the hooks look for the next beckon. */
  stop(): void;
}

export interface AnswerAccepted {
  readonly ok: true;
  readonly answered: string;
}

const nothing = "{}\n";
const beat = "\n";
const maxRemembered = 500;
const refuse = (error: string): ActionRefused => ({ refused: 409, error });

export function createPendingRequests(options: PendingRequestsOptions): PendingRequests {
  const { clock, config, beatMs = timing.holdHeartbeatMs, confirmMs = timing.confirmDecisionMs } = options;
  /** By the event that asked. */
  const calls = new Map<string, PendingRequest>();
  /** By the ask's name: who answered it, for whoever comes second. */
  const over = new Map<string, string>();
  let beating: ReturnType<typeof setInterval> | null = null;
  let looking: ReturnType<typeof setTimeout> | null = null;
  let isStopped = false;

  function current(agent: string, sessionId: string): Session | null {
    const session = options.get(agent, sessionId);
    return session && settle(session, clock().t);
  }

  function hold(text: string, line: HookConnection): void {
    const isOn = config().answering.enabled && !isStopped;
    let call: PendingRequest | null = null;
    try {
      call = isOn ? acceptRequest(text, line, { agents: options.agents, here: clock(), current }) : null;
    } catch (error) {
      options.onError(`a permission hook could not be held: ${error}`);
    }
    const before = call && calls.get(call.request);
    if (call && (before ? before.taken === null : calls.size < limits.maxPendingRequests)) {
      keep(call);
    } else {
      line.send(nothing);
      line.close();
    }
  }

  function keep(call: PendingRequest): void {
    const before = calls.get(call.request);
    if (before) release(before);
    calls.set(call.request, call);
    call.line.onClosed(() => {
      if (calls.get(call.request) === call) drop(call);
      call.taken?.end("closed");
    });
    call.line.send(beat);
    beating ??= setInterval(onBeat, beatMs);
    byRule(call).catch((error) => options.onError(`no rule could be asked: ${error}`));
    lookWhenSettled();
    options.onChange();
  }

  async function byRule(call: PendingRequest): Promise<void> {
    const { isWhole, dangers, kind } = call.details;
    if (!isWhole || dangers.length > 0 || kind !== "permission") return;
    const rules = config().answering.autoAllow;
    const allowed = call.answering.autoAllow(rules, call.payload, { cwd: call.cwd });
    if (allowed === null || !(await areInside(allowed.folder, allowed.paths))) return;
    const session = current(call.agent, call.sessionId);
    const ask = findAsk(session, call.request);
    if (session && ask) await answer(session, answerIdOf(ask), { do: "allow" }, `rule ${allowed.rule}`);
  }

  function drop(call: PendingRequest): void {
    calls.delete(call.request);
    if (calls.size === 0 && beating) {
      clearInterval(beating);
      beating = null;
    }
    options.onChange();
  }

  function release(call: PendingRequest): void {
    drop(call);
    call.line.send(nothing);
    call.line.close();
  }

  function check(call: PendingRequest, session: Session | null): void {
    // What was sent is the hook's to confirm.
    if (call.taken && session && !session.ended) return;
    if (!config().answering.enabled || !findAsk(session, call.request)) release(call);
  }

  function onBeat(): void {
    const { t } = clock();
    for (const call of [...calls.values()]) {
      if (t - call.sinceT > timing.maxPendingMs) release(call);
      else call.line.send(beat);
    }
    look();
  }

  /** Also when nothing happens: some time after the last event the agent's own file has the last word. */
  function look(): void {
    for (const call of [...calls.values()]) check(call, current(call.agent, call.sessionId));
    lookWhenSettled();
  }

  function lookWhenSettled(): void {
    if (looking) clearTimeout(looking);
    looking = null;
    const { t } = clock();
    let next = Number.POSITIVE_INFINITY;
    for (const { agent, sessionId } of calls.values()) {
      const session = options.get(agent, sessionId);
      next = Math.min(next, (session && settlesAt(session, t)) ?? Number.POSITIVE_INFINITY);
    }
    if (Number.isFinite(next) && !isStopped) looking = setTimeout(look, next - t + 1);
  }

  /** The one place where an answer becomes a decision. */
  async function answer(
    session: Session,
    name: string,
    given: Answer,
    by: string,
  ): Promise<AnswerAccepted | ActionRefused | string> {
    const settled = settle(session, clock().t);
    const ask = settled.asks.find((open) => isVisible(open) && answerIdOf(open) === name);
    if (!ask)
      return refuse(`this ask is gone: ${over.get(name) ?? "it was answered in the terminal, or ended"}`);
    const call = callOf(ask);
    if (!call) return refuse(`this ask cannot be answered from here: ${whyNot(settled, ask)}`);
    if (call.taken) return refuse(`this ask is gone: ${answeredByText(call.taken.verdict)}`);
    if (!call.details.isWhole && (given.do === "allow" || given.do === "always"))
      return { refused: 403, error: "not all of what is asked can be shown: look at it in the terminal" };
    const decision = call.answering.decide(call.payload, given);
    if (typeof decision === "string") return decision;
    const text = JSON.stringify(decision);
    if (Buffer.byteLength(text) > limits.maxDecisionBytes) return "the answer is too long";
    return give(call, `${signDecision(options.key, call.request, text)}\n`, {
      session: settled,
      ask,
      answered: answerText(given, call.details),
      by,
    });
  }

  async function give(
    call: PendingRequest,
    text: string,
    verdict: GivenAnswer,
  ): Promise<AnswerAccepted | ActionRefused> {
    const { promise, resolve } = Promise.withResolvers<Confirmation>();
    call.taken = { verdict, end: resolve };
    if (!call.line.send(text)) resolve("closed");
    const timer = setTimeout(resolve, confirmMs, "silent");
    const how = await promise;
    clearTimeout(timer);
    if (how === "printed") return { ok: true, answered: verdict.answered };
    const what = how === "closed" ? "its hook was gone before it came" : "its hook has not confirmed it yet";
    return refuse(`your answer may not have arrived: ${what}. Look at the terminal`);
  }

  /** The decision is in the agent's hands: the ask is over, before the agent itself says so. */
  function printed(call: PendingRequest): void {
    if (!call.taken) return;
    const { verdict, end } = call.taken;
    over.set(answerIdOf(verdict.ask), answeredByText(verdict));
    const [oldest] = over.keys();
    if (over.size > maxRemembered && oldest !== undefined) over.delete(oldest);
    end("printed");
    drop(call);
    call.line.close();
    closeAsk(call);
    options.onVerdict(verdict);
  }

  function closeAsk({ agent, sessionId, request }: PendingRequest): void {
    const here = clock();
    const newest = options.get(agent, sessionId)?.newest ?? here.t;
    const when = { at: here.at, t: Math.max(here.t, newest) };
    const change = { kind: "ask-answered", request } as const;
    options.dispatch(createInternalEvent(`answered-${request}`, when, { agent, sessionId }, change));
  }

  /**
   * The agent ended its hook: "No", Esc or /exit in the terminal, before an answer that was on its way. Where it keeps a
   * status file, that says which.
   */
  function stopped(call: PendingRequest): void {
    const session = current(call.agent, call.sessionId);
    const ask = findAsk(session, call.request);
    drop(call);
    call.line.close();
    if (!session || !ask || session.file !== null) return;
    closeAsk(call);
    options.onVerdict({ session, ask, answered: "No, Esc or /exit", by: "in the terminal" });
  }

  const callOf = (ask: Ask) => calls.get(ask.request ?? "") ?? null;
  const whyNot = (session: Session, ask: Ask) => whyNotAnswerable(session, ask, config().answering.enabled);

  return {
    hold,
    end(request, how) {
      const call = calls.get(request);
      if (!call) return;
      if (how === "printed") printed(call);
      else stopped(call);
    },
    details: (ask) => callOf(ask)?.details ?? null,
    answer,
    addAnswerInfo(snapshot, inFull = false) {
      const session = current(snapshot.provider, snapshot.sessionId);
      if (!session || snapshot.asks.length === 0) return snapshot;
      return addAnswerInfo(snapshot, { session, callOf, whyNot, inFull });
    },
    follow({ agent, sessionId }) {
      if (calls.size === 0) return;
      const session = current(agent, sessionId);
      for (const call of [...calls.values()]) {
        if (call.agent === agent && call.sessionId === sessionId) check(call, session);
      }
      lookWhenSettled();
    },
    recheck: look,
    stop() {
      isStopped = true;
      if (beating) clearInterval(beating);
      if (looking) clearTimeout(looking);
      const lines = [...calls.values()].map(({ line }) => line);
      calls.clear();
      for (const line of lines) line.close();
    },
  };
}
