/**
 * How asks ended that were not answered through beckon. Only the end of a tool is unambiguous: the status file says no more
 * than that a dialog is gone, and it was seen "busy" for 0.2 s after Esc and before /exit too. So uncertain outcomes wait
 * for the next events.
 */
import { endingOfChange } from "../core/answers/ending.ts";
import { nameEnding, nameOwnPlace, sessionEnded } from "../core/answers/words.ts";
import type { AskEnd, SessionChange } from "../core/interfaces/index.ts";
import type { AgentEvent } from "../core/session/event.ts";
import { type Ask, isBlocking, type Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { timing } from "../core/timing.ts";

export interface AskOutcomes {
  onChange(change: SessionChange): void;
  /** Reports the uncertain outcomes as far as they are known. */
  stop(): void;
}

export interface AskOutcomesOptions {
  readonly now: () => number;
  readonly onOutcome: (outcome: AskEnd) => void;
  /** For tests. */
  readonly waitMs?: number;
}

interface UncertainOutcome {
  value: AskEnd;
  readonly timer: ReturnType<typeof setTimeout>;
}

export function createAskOutcomes(options: AskOutcomesOptions): AskOutcomes {
  const { now, onOutcome, waitMs = timing.lateHookMs } = options;
  /** By session key. */
  const uncertain = new Map<string, Set<UncertainOutcome>>();

  function remove(entry: UncertainOutcome): void {
    clearTimeout(entry.timer);
    const key = sessionKeyOf(entry.value.session);
    const entries = uncertain.get(key);
    entries?.delete(entry);
    if (entries?.size === 0) uncertain.delete(key);
  }

  function report(entry: UncertainOutcome): void {
    remove(entry);
    onOutcome(entry.value);
  }

  function wait(value: AskEnd): void {
    const entry: UncertainOutcome = { value, timer: setTimeout(() => report(entry), waitMs) };
    const key = sessionKeyOf(value.session);
    uncertain.set(key, (uncertain.get(key) ?? new Set()).add(entry));
  }

  /** Applies what the next event says about the asks that just ended. The end of a tool belongs to the newest match. */
  function update(entries: readonly UncertainOutcome[], session: Session, event: AgentEvent): void {
    const { change } = event;
    if (change.kind === "ask-answered") {
      // Answered through beckon, which records it itself.
      for (const entry of entries) if (entry.value.ask.request === change.request) remove(entry);
      return;
    }
    const finished = entries.findLast((entry) => endsToolOf(entry.value.ask, event));
    if (finished) {
      const outcome = describeOutcome(finished.value.ask, session, event);
      finished.value = { ...finished.value, ...outcome, by: nameOwnPlace(session.place) };
      report(finished);
    }
    for (const entry of entries) {
      const { ask, how } = entry.value;
      const isDecided = session.ended !== null || isEndWithoutTool(ask, event);
      if (entry === finished || how !== "replied" || !isDecided) continue;
      entry.value = { ...entry.value, ...describeOutcome(ask, session, event), by: nameWho(session) };
    }
  }

  return {
    onChange({ session, event, before }) {
      const entries = uncertain.size > 0 ? uncertain.get(sessionKeyOf(session)) : undefined;
      if (entries) update([...entries], session, event);
      if (event.change.kind === "ask-answered" || !before || before.asks.length === 0) return;
      const open = new Set(session.asks.map(({ id }) => id));
      for (const ask of before.asks) {
        if (open.has(ask.id) || !isBlocking(ask) || ask.from !== "hook") continue;
        const outcome = describeOutcome(ask, session, event);
        const value: AskEnd = { session, ask, ...outcome, by: nameWho(session), at: now() };
        const isCertain =
          session.ended !== null ||
          (event.change.kind !== "status" && event.change.kind !== "tool-batch-end");
        if (isCertain) onOutcome(value);
        else wait(value);
      }
    },
    stop() {
      for (const entry of [...uncertain.values()].flatMap((entries) => [...entries])) report(entry);
    },
  };
}

/** A session that ends takes its asks with it: nobody has answered them. */
const nameWho = ({ ended, place }: Session): string | null => (ended === null ? nameOwnPlace(place) : null);

/** The tool of an elicitation goes on after its form, so its end says nothing. */
function endsToolOf(ask: Ask, { change, agentId }: AgentEvent): boolean {
  if (change.kind !== "tool-end" || agentId !== ask.agentId || ask.kind === "elicitation") return false;
  return ask.toolUseId === null ? change.tool === ask.tool : change.toolUseId === ask.toolUseId;
}

function isEndWithoutTool(ask: Ask, { change, agentId }: AgentEvent): boolean {
  if (change.kind === "tool-batch-end") return agentId === ask.agentId && ask.kind !== "elicitation";
  return change.kind === "status" && (change.status === "idle" || change.status === "shell");
}

function describeOutcome(
  { kind }: Ask,
  { ended }: Session,
  { change }: AgentEvent,
): Pick<AskEnd, "outcome" | "how"> {
  const how = endingOfChange(change, kind);
  if (how === "dismissed" && ended) return { outcome: sessionEnded, how };
  return { outcome: nameEnding(how, kind), how };
}
