/**
 * How an ask ended that was not answered through beckon. Only a tool's end is plain. The agent's file says no more than that
 * a dialog is gone, and was seen to be "busy" for 0.2 s also after Esc and before /exit: so what comes next is waited for.
 */

import type { AgentEvent } from "../core/session/event.ts";
import { sessionKeyOf } from "../core/session/keys.ts";
import { type Ask, isBlocking, type Session } from "../core/session/session.ts";
import { timing } from "../core/timing.ts";

export interface AskOutcome {
  readonly session: Session;
  readonly ask: Ask;
  readonly outcome: string;
  /** The session is over: nobody answered it. */
  readonly isLeft: boolean;
  readonly at: number;
}

export interface AskOutcomes {
  follow(after: Session, event: AgentEvent, before: Session | null): void;
  /** Tells what it knows so far. */
  stop(): void;
}

export interface AskOutcomesOptions {
  readonly now: () => number;
  readonly onEnd: (end: AskOutcome) => void;
  /** For tests. */
  readonly waitMs?: number;
}

interface Unsure {
  end: AskOutcome;
  readonly timer: ReturnType<typeof setTimeout>;
}

export function createAskOutcomes({
  now,
  onEnd,
  waitMs = timing.lateHookMs,
}: AskOutcomesOptions): AskOutcomes {
  /** By session. */
  const unsure = new Map<string, Set<Unsure>>();

  function drop(one: Unsure): void {
    clearTimeout(one.timer);
    const key = sessionKeyOf(one.end.session);
    const others = unsure.get(key);
    others?.delete(one);
    if (others?.size === 0) unsure.delete(key);
  }

  function tell(one: Unsure): void {
    drop(one);
    onEnd(one.end);
  }

  function wait(end: AskOutcome): void {
    const one: Unsure = { end, timer: setTimeout(() => tell(one), waitMs) };
    const key = sessionKeyOf(end.session);
    unsure.set(key, (unsure.get(key) ?? new Set()).add(one));
  }

  /** What the next event says of those that ended last; of two alike, one tool's end speaks of the newer one. */
  function learn(waiting: readonly Unsure[], after: Session, event: AgentEvent): void {
    const { change } = event;
    if (change.kind === "ask-answered") {
      // Through beckon, which says so itself.
      for (const one of waiting) if (one.end.ask.request === change.request) drop(one);
      return;
    }
    const done = waiting.findLast((one) => isEndOf(one.end.ask, event));
    if (done) {
      done.end = { ...done.end, outcome: outcomeOf(done.end.ask, after, event), isLeft: false };
      tell(done);
    }
    for (const one of waiting) {
      const { ask, outcome } = one.end;
      if (one === done || outcome !== answered || !(after.ended || isOver(ask, event))) continue;
      one.end = { ...one.end, outcome: outcomeOf(ask, after, event), isLeft: after.ended !== null };
    }
  }

  return {
    follow(after, event, before) {
      const waiting = unsure.size > 0 ? unsure.get(sessionKeyOf(after)) : undefined;
      if (waiting) learn([...waiting], after, event);
      if (event.change.kind === "ask-answered" || !before || before.asks.length === 0) return;
      const left = new Set(after.asks.map(({ id }) => id));
      for (const ask of before.asks) {
        if (left.has(ask.id) || !isBlocking(ask) || ask.from !== "hook") continue;
        const isLeft = after.ended !== null;
        const end: AskOutcome = {
          session: after,
          ask,
          outcome: outcomeOf(ask, after, event),
          isLeft,
          at: now(),
        };
        const isSure = isLeft || (event.change.kind !== "status" && event.change.kind !== "tool-batch-end");
        if (isSure) onEnd(end);
        else wait(end);
      }
    },
    stop() {
      for (const one of [...unsure.values()].flatMap((ones) => [...ones])) tell(one);
    },
  };
}

const answered = "answered";

/** A form belongs to a tool that goes on after it. */
function isEndOf(ask: Ask, { change, agentId }: AgentEvent): boolean {
  if (change.kind !== "tool-end" || agentId !== ask.agentId || ask.kind === "elicitation") return false;
  return ask.toolUseId === null ? change.tool === ask.tool : change.toolUseId === ask.toolUseId;
}

/** It is over, and its tool has not run. */
function isOver(ask: Ask, { change, agentId }: AgentEvent): boolean {
  if (change.kind === "tool-batch-end") return agentId === ask.agentId && ask.kind !== "elicitation";
  return change.kind === "status" && (change.status === "idle" || change.status === "shell");
}

function outcomeOf({ kind }: Ask, { ended }: Session, { change }: AgentEvent): string {
  switch (change.kind) {
    case "tool-end":
      if (change.outcome === "denied") return "denied";
      return kind === "question" ? answered : "allowed";
    case "elicitation-end":
      return answered;
    case "tool-batch-end":
      return "No";
    case "status":
      return change.status === "busy" ? answered : "No or Esc";
    default:
      return ended ? "the session ended" : "over";
  }
}
