/** What the changes of a session mean to a user. */
import { expect, test } from "bun:test";
import type { Transition } from "../../src/core/interfaces/index.ts";
import type { AgentEvent } from "../../src/core/session/event.ts";
import { createStore } from "../../src/state/store.ts";
import { createTransitionFinder } from "../../src/state/transitions.ts";
import { call, createAskingTimeline } from "../core/session/fixture.ts";
import { readRecordings } from "../replay/recording.ts";
import { createIngestedEvents } from "./recorded-events.ts";

/** Applies the events, and lets time pass between them. */
function findTransitions(events: readonly AgentEvent[]): Transition[] {
  const store = createStore();
  const transitions: Transition[] = [];
  let now = { at: 0, t: 0, boot: null, host: null };
  let tick: (() => void) | null = null;
  const finder = createTransitionFinder({
    clock: () => now,
    get: store.get,
    schedule: (work) => {
      tick = work;
      return () => {};
    },
    onTransition: (transition) => transitions.push(transition),
  });
  store.subscribe((session, event) => finder.onChange(session, event.at));
  const pass = (ms: number) => {
    now = { ...now, at: now.at + ms, t: now.t + ms };
    const work = tick;
    tick = null;
    work?.();
  };
  for (const event of events) {
    for (let steps = 0; now.t + 250 < event.t && tick && steps < 20; steps++) pass(250);
    now = { ...now, at: event.at, t: event.t };
    store.dispatch(event);
  }
  for (let steps = 0; tick && steps < 40; steps++) pass(250);
  return transitions;
}

const summarize = (transitions: readonly Transition[]) =>
  transitions.map((transition) =>
    transition.kind === "span" ? `${transition.before} → ${transition.state}` : transition.kind,
  );

test("an ask that is answered in the terminal opens, closes and ends, and its session waits meanwhile", () => {
  const timeline = createAskingTimeline().hook("PostToolUse", call).hook("Stop", {});
  const kinds = summarize(findTransitions(timeline.events));
  expect(kinds.filter((kind) => kind.startsWith("ask"))).toEqual(["ask-opened", "ask-closed", "ask-ended"]);
  expect(kinds.filter((kind) => kind.includes("→")).slice(-3)).toEqual([
    "working → waiting",
    "waiting → working",
    "working → ready",
  ]);
});

test("an ask that only the status file closes is closed without another event", () => {
  const timeline = createAskingTimeline().file("waiting", "permission prompt", 10).file("idle");
  expect(summarize(findTransitions(timeline.events))).toContain("ask-closed");
});

test("in every recording, what opens is closed once, and spans follow on each other", () => {
  let opened = 0;
  for (const recording of readRecordings()) {
    const transitions = findTransitions(createIngestedEvents(recording));
    const open = new Set<string>();
    const states = new Map<string, string | null>();
    for (const transition of transitions) {
      if (transition.kind === "ask-opened") {
        expect(open.has(transition.id), recording.name).toBe(false);
        open.add(transition.id);
        opened++;
      }
      if (transition.kind === "ask-closed") {
        expect(open.delete(transition.id), recording.name).toBe(true);
        expect(transition.waitedMs).toBeGreaterThanOrEqual(0);
      }
      if (transition.kind === "span") {
        const key = transition.session.sessionId;
        expect(transition.before, recording.name).toBe((states.get(key) ?? null) as typeof transition.before);
        states.set(key, transition.state);
      }
    }
  }
  expect(opened).toBeGreaterThan(20);
});
