/**
 * The lines that permission hooks hold open while their dialog is on the screen. An answer goes out on one of them, once;
 * whatever else closes the ask releases the line with `{}`, and the terminal decides as if beckon were not there.
 */
import type { Here } from "./agents/envelope.ts";
import { askName } from "./core/ask-name.ts";
import type { Answer, Asked } from "./core/asked.ts";
import type { Config } from "./core/config.ts";
import { type AgentEvent, ownEvent } from "./core/event.ts";
import { type Ask, isShown, type Session } from "./core/session.ts";
import { restsAt, settle } from "./core/settle.ts";
import type { SessionSnapshot } from "./core/snapshot.ts";
import { admit, askOf, type Call, type Confirmation } from "./held-call.ts";
import { markAsks } from "./held-mark.ts";
import { answerWords, toldBy, type Verdict, whyNotAnswerable } from "./held-words.ts";
import { limits } from "./limits.ts";
import { areInside } from "./links.ts";
import type { HoldDoor, Line } from "./receiver/hold.ts";
import type { Refused } from "./receiver/server.ts";
import { signed } from "./storage/proof.ts";

export interface HeldOptions {
  /** Decisions are proved with it. */
  readonly key: string;
  readonly clock: () => Here;
  readonly get: (agent: string, sessionId: string) => Session | null;
  readonly dispatch: (event: AgentEvent) => void;
  readonly config: () => Pick<Config, "answering">;
  readonly onVerdict: (verdict: Verdict) => void;
  /** What can be answered has changed. */
  readonly onChange: () => void;
  readonly onError: (text: string) => void;
  /** For tests. */
  readonly beatMs?: number;
  readonly confirmMs?: number;
}

export interface Held extends HoldDoor {
  /** What is asked, in full; null: it cannot be answered from here. */
  asked(ask: Ask): Asked | null;
  /** A text: what is wrong with the answer itself. */
  answer(session: Session, name: string, answer: Answer, by: string): Promise<Done | Refused | string>;
  /** The session as others see it, with what can be answered; `inFull`: and with all that is asked. */
  mark(snapshot: SessionSnapshot, inFull?: boolean): SessionSnapshot;
  follow(session: Session): void;
  /** Settings or time may have ended an ask. */
  look(): void;
  /** Lets go of every line without a word: the hooks look for the next beckon. */
  stop(): void;
}

export interface Done {
  readonly ok: true;
  readonly answered: string;
}

const nothing = "{}\n";
const beat = "\n";
const maxRemembered = 500;
const refuse = (error: string): Refused => ({ refused: 409, error });

export function createHeld(options: HeldOptions): Held {
  const { clock, config, beatMs = limits.heldBeatMs, confirmMs = limits.heldConfirmMs } = options;
  /** By the event that asked. */
  const calls = new Map<string, Call>();
  /** By the ask's name: who answered it, for whoever comes second. */
  const over = new Map<string, string>();
  let beating: ReturnType<typeof setInterval> | null = null;
  let looking: ReturnType<typeof setTimeout> | null = null;
  let isStopped = false;

  function current(agent: string, sessionId: string): Session | null {
    const session = options.get(agent, sessionId);
    return session && settle(session, clock().t);
  }

  function hold(text: string, line: Line): void {
    const isOn = config().answering.enabled && !isStopped;
    let call: Call | null = null;
    try {
      call = isOn ? admit(text, line, { here: clock(), current }) : null;
    } catch (error) {
      options.onError(`a permission hook could not be held: ${error}`);
    }
    const before = call && calls.get(call.request);
    if (call && (before ? before.taken === null : calls.size < limits.maxHeldLines)) {
      keep(call);
    } else {
      line.send(nothing);
      line.close();
    }
  }

  function keep(call: Call): void {
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

  async function byRule(call: Call): Promise<void> {
    const { isWhole, dangers, kind } = call.asked;
    if (!isWhole || dangers.length > 0 || kind !== "permission") return;
    const rules = config().answering.autoAllow;
    const allowed = call.answering.autoAllow(rules, call.payload, { cwd: call.cwd });
    if (allowed === null || !(await areInside(allowed.folder, allowed.paths))) return;
    const session = current(call.agent, call.sessionId);
    const ask = askOf(session, call.request);
    if (session && ask) await answer(session, askName(ask), { do: "allow" }, `rule ${allowed.rule}`);
  }

  function drop(call: Call): void {
    calls.delete(call.request);
    if (calls.size === 0 && beating) {
      clearInterval(beating);
      beating = null;
    }
    options.onChange();
  }

  function release(call: Call): void {
    drop(call);
    call.line.send(nothing);
    call.line.close();
  }

  function check(call: Call, session: Session | null): void {
    // What was sent is the hook's to confirm.
    if (call.taken && session && !session.ended) return;
    if (!config().answering.enabled || !askOf(session, call.request)) release(call);
  }

  function onBeat(): void {
    const { t } = clock();
    for (const call of [...calls.values()]) {
      if (t - call.sinceT > limits.maxHeldMs) release(call);
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
      next = Math.min(next, (session && restsAt(session, t)) ?? Number.POSITIVE_INFINITY);
    }
    if (Number.isFinite(next) && !isStopped) looking = setTimeout(look, next - t + 1);
  }

  /** The one place where an answer becomes a decision. */
  async function answer(
    session: Session,
    name: string,
    given: Answer,
    by: string,
  ): Promise<Done | Refused | string> {
    const settled = settle(session, clock().t);
    const ask = settled.asks.find((open) => isShown(open) && askName(open) === name);
    if (!ask)
      return refuse(`this ask is gone: ${over.get(name) ?? "it was answered in the terminal, or ended"}`);
    const call = callOf(ask);
    if (!call) return refuse(`this ask cannot be answered from here: ${whyNot(settled, ask)}`);
    if (call.taken) return refuse(`this ask is gone: ${toldBy(call.taken.verdict)}`);
    if (!call.asked.isWhole && (given.do === "allow" || given.do === "always"))
      return { refused: 403, error: "not all of what is asked can be shown: look at it in the terminal" };
    const decision = call.answering.decide(call.payload, given);
    if (typeof decision === "string") return decision;
    const text = JSON.stringify(decision);
    if (Buffer.byteLength(text) > limits.maxDecisionBytes) return "the answer is too long";
    return give(call, `${signed(options.key, call.request, text)}\n`, {
      session: settled,
      ask,
      answered: answerWords(given, call.asked),
      by,
    });
  }

  async function give(call: Call, text: string, verdict: Verdict): Promise<Done | Refused> {
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
  function printed(call: Call): void {
    if (!call.taken) return;
    const { verdict, end } = call.taken;
    over.set(askName(verdict.ask), toldBy(verdict));
    const [oldest] = over.keys();
    if (over.size > maxRemembered && oldest !== undefined) over.delete(oldest);
    end("printed");
    drop(call);
    call.line.close();
    closeAsk(call);
    options.onVerdict(verdict);
  }

  function closeAsk({ agent, sessionId, request }: Call): void {
    const here = clock();
    const newest = options.get(agent, sessionId)?.newest ?? here.t;
    const when = { at: here.at, t: Math.max(here.t, newest) };
    const move = { kind: "ask-answered", request } as const;
    options.dispatch(ownEvent(`answered-${request}`, when, { agent, sessionId }, move));
  }

  /**
   * The agent ended its hook: "No", Esc or /exit in the terminal, before an answer that was on its way. Where it keeps a
   * status file, that says which.
   */
  function stopped(call: Call): void {
    const session = current(call.agent, call.sessionId);
    const ask = askOf(session, call.request);
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
    asked: (ask) => callOf(ask)?.asked ?? null,
    answer,
    mark(snapshot, inFull = false) {
      const session = current(snapshot.provider, snapshot.sessionId);
      if (!session || snapshot.asks.length === 0) return snapshot;
      return markAsks(snapshot, { session, callOf, whyNot, inFull });
    },
    follow({ agent, sessionId }) {
      if (calls.size === 0) return;
      const session = current(agent, sessionId);
      for (const call of [...calls.values()]) {
        if (call.agent === agent && call.sessionId === sessionId) check(call, session);
      }
      lookWhenSettled();
    },
    look,
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
