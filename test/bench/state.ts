/** What one event costs the state alone with 10, 1,000 and 10,000 sessions: it should be the same. */

import { claude } from "../../src/agents/claude/index.ts";
import { openEnvelope, stampEvent } from "../../src/agents/envelope.ts";
import type { AgentEvent } from "../../src/core/session/event.ts";
import { createSession, type Session } from "../../src/core/session/session.ts";
import { sessionKeyOf } from "../../src/core/session/session-ref.ts";
import { createStore, type Store } from "../../src/state/store.ts";
import { createClock } from "../../src/system/clock.ts";
import { bodies, sessionIdOf } from "./bodies.ts";
import { formatFigures, interleave, meets, ratio } from "./rounds.ts";

const rounds = 15;
const events = 20_000;
const counts = [10, 1_000, 10_000] as const;
/** The same number for every case, so that the processor's cache holds the same for all. */
const busySessions = 10;

const now = createClock()();
const since = Date.now() - 3 * 60 * 60_000;
const nameOf = (sessions: number) => `${sessions.toLocaleString("en")} sessions`;

const leastNameOf = (sessions: number) => `least, ${nameOf(sessions)}`;
const workOf = (part: number, sessions: number) => ({ part, sessions, events, since });

function translate(text: string): AgentEvent | null {
  const hook = openEnvelope(JSON.parse(text), "claude", now.host);
  const id = hook?.meta.id;
  return (id && claude.translate(hook, { ...stampEvent(hook.meta, now), id, key: id })) || null;
}

function* translateAll(part: number, sessions: number): Generator<AgentEvent> {
  for (const { text } of bodies(workOf(part, sessions))) {
    const event = translate(text);
    if (event) yield event;
  }
}

function createLeastStore(): Pick<Store, "dispatch"> {
  const sessions = new Map<string, Session>();
  return {
    dispatch(event) {
      const key = sessionKeyOf(event);
      const before = sessions.get(key) ?? createSession(event);
      sessions.set(key, { ...before, newest: event.t, cwd: event.cwd, place: event.place });
    },
  };
}

const stores = counts.map((sessions) => {
  const store = createStore();
  const [first] = translateAll(0, 1);
  if (!first) throw new Error("no events to measure with");
  for (let n = 0; n < sessions; n++) {
    store.dispatch({ ...first, id: `first-${n}`, sessionId: sessionIdOf(n) });
  }
  return { sessions, store };
});

/** Spreads the sessions that work in a round over all sessions. */
function spread(event: AgentEvent, sessions: number): AgentEvent {
  const worker = Number.parseInt(event.sessionId.slice(0, 8), 16);
  return { ...event, sessionId: sessionIdOf(Math.floor((worker * sessions) / busySessions)) };
}

function measureDispatch(store: Pick<Store, "dispatch">, list: readonly AgentEvent[]): number {
  Bun.gc(true);
  const started = performance.now();
  for (const event of list) store.dispatch(event);
  return ((performance.now() - started) * 1e6) / list.length;
}

const figures = await interleave(
  stores.map(({ sessions, store }) => ({
    name: nameOf(sessions),
    run(round) {
      const list = [...translateAll(round + 4, busySessions)].map((event) => spread(event, sessions));
      return measureDispatch(store, list);
    },
  })),
  { rounds },
);
const [few, ...more] = counts.map(nameOf);

/**
 * All sessions work at once, one event each in turn, so the figures include what the processor's cache does not hold. Beside
 * it the least that a state can do: a map, and one object copied. sessions.ts measures the whole app in the same way.
 */
const allWork = await interleave(
  counts.flatMap((sessions) => {
    const stores = [
      { name: nameOf(sessions), store: createStore() },
      { name: leastNameOf(sessions), store: createLeastStore() },
    ];
    return stores.map(({ name, store }) => ({
      name,
      run: (round: number) => measureDispatch(store, [...translateAll(round + 4, sessions)]),
    }));
  }),
  { rounds },
);

console.log(`${busySessions} of them at work\n${formatFigures(figures, "ns/event", [few ?? ""], 0)}`);
console.log(
  `all of them at work\n${formatFigures(allWork, "ns/event", [few ?? "", leastNameOf(counts[0])], 0)}`,
);
const isFlat = more.map((name) =>
  meets(
    `an event with ${name}, ${busySessions} of them at work`,
    ratio(figures, name, few ?? ""),
    "at most",
    1.3,
  ),
);
process.exitCode = isFlat.every(Boolean) ? 0 : 1;
