/**
 * Reads the journal into the history from where it stopped: after a kill, a lock, a full disk, or from the start after a
 * damaged file was set aside. Of what changes sessions, the journal has hook events only, so asks and spans are what the hooks
 * alone say.
 */
import { endingOfChange } from "../core/answers/ending.ts";
import type { Transition } from "../core/interfaces/index.ts";
import type { AgentEvent } from "../core/session/event.ts";
import type { Ask } from "../core/session/session.ts";
import { createStore } from "../state/store.ts";
import { createTransitionFinder } from "../state/transitions.ts";
import { createStateRow, type StateRow } from "./rows.ts";

export interface StateReplay {
  /** Returns what the event changed. */
  apply(event: AgentEvent): readonly StateRow[];
}

export function createStateReplay(): StateReplay {
  // An event that cannot be applied changes nothing.
  const store = createStore(() => {});
  let rows: StateRow[] = [];
  let now = { at: 0, t: 0, boot: null, host: null };
  let closed: Extract<Transition, { kind: "ask-closed" }>[] = [];
  const finder = createTransitionFinder({
    clock: () => now,
    get: store.get,
    // Without the status file, only an event changes a session.
    schedule: () => () => {},
    onTransition(transition) {
      if ("ask" in transition && isOnlyReminded(transition.ask)) return;
      if (transition.kind === "ask-closed") closed.push(transition);
      rows.push(createStateRow(transition));
    },
  });
  store.subscribe((session, event) => {
    finder.onChange(session, event.at);
    for (const { ask } of closed)
      finder.onAskEnded({ session, ask, how: endingOfChange(event.change, ask.kind), by: null });
    closed = [];
  });
  return {
    apply(event) {
      rows = [];
      now = { ...now, at: event.at, t: Math.max(now.t, event.t) };
      store.dispatch(event);
      return rows;
    },
  };
}

/**
 * The store starts without the sessions' earlier events, so the request that a reminder repeats may be unknown here. If the ask is
 * still open, the state has it.
 */
function isOnlyReminded({ from, tool }: Ask): boolean {
  return from === "reminder" && tool === null;
}
