/** What one event costs the state alone with 10, 1,000 and 10,000 sessions: it should be the same. */

import { claude } from "../../src/agents/claude/index.ts";
import { openEnvelope, stampEvent } from "../../src/agents/envelope.ts";
import { type AgentEvent, createSessionKey } from "../../src/core/session/event.ts";
import { createSession, type Session } from "../../src/core/session/session.ts";
import { createStore, type Store } from "../../src/state/store.ts";
import { createClock } from "../../src/system/clock.ts";
import { bodies, sessionIdOf } from "./bodies.ts";
import { interleave, meets, ratio, table } from "./rounds.ts";

const rounds = 15;
const events = 20_000;
const counts = [10, 1_000, 10_000] as const;
/** As many as any case touches in a round, so that all find the same in the processor's cache. */
const busySessions = 10;

const here = createClock()();
const since = Date.now() - 3 * 60 * 60_000;
const nameOf = (sessions: number) => `${sessions.toLocaleString("en")} sessions`;

const leastOf = (sessions: number) => `least, ${nameOf(sessions)}`;
const workOf = (part: number, sessions: number) => ({ part, sessions, events, since });

function read(text: string): AgentEvent | null {
  const hook = openEnvelope(JSON.parse(text), "claude", here.host);
  const id = hook?.meta.id;
  return (id && claude.translate(hook, { ...stampEvent(hook.meta, here), id, key: id })) || null;
}

function* translated(part: number, sessions: number): Generator<AgentEvent> {
  for (const { text } of bodies(workOf(part, sessions))) {
    const event = read(text);
    if (event) yield event;
  }
}

function createLeast(): Pick<Store, "dispatch"> {
  const sessions = new Map<string, Session>();
  return {
    dispatch(event) {
      const key = createSessionKey(event.agent, event.sessionId);
      const before = sessions.get(key) ?? createSession(event);
      sessions.set(key, { ...before, newest: event.t, cwd: event.cwd, place: event.place });
    },
  };
}

const stores = counts.map((sessions) => {
  const store = createStore();
  const [first] = translated(0, 1);
  if (!first) throw new Error("no events to measure with");
  for (let n = 0; n < sessions; n++) {
    store.dispatch({ ...first, id: `first-${n}`, sessionId: sessionIdOf(n) });
  }
  return { sessions, store };
});

/** Of those that work in a round, as many in the first as in the last of all sessions. */
function spread(event: AgentEvent, sessions: number): AgentEvent {
  const worker = Number.parseInt(event.sessionId.slice(0, 8), 16);
  return { ...event, sessionId: sessionIdOf(Math.floor((worker * sessions) / busySessions)) };
}

function timed(store: Pick<Store, "dispatch">, list: readonly AgentEvent[]): number {
  Bun.gc(true);
  const started = performance.now();
  for (const event of list) store.dispatch(event);
  return ((performance.now() - started) * 1e6) / list.length;
}

const figures = await interleave(
  stores.map(({ sessions, store }) => ({
    name: nameOf(sessions),
    run(round) {
      const list = [...translated(round + 4, busySessions)].map((event) => spread(event, sessions));
      return timed(store, list);
    },
  })),
  { rounds },
);
const [few, ...more] = counts.map(nameOf);

/**
 * All sessions at work at once, each with an event in turn: what the processor's cache no longer holds is in it too. Beside
 * the least that a state can be: a map, one object copied. sessions.ts measures the whole app so.
 */
const alone = await interleave(
  counts.flatMap((sessions) => {
    const stores = [
      { name: nameOf(sessions), store: createStore() },
      { name: leastOf(sessions), store: createLeast() },
    ];
    return stores.map(({ name, store }) => ({
      name,
      run: (round: number) => timed(store, [...translated(round + 4, sessions)]),
    }));
  }),
  { rounds },
);

console.log(`${busySessions} of them at work\n${table(figures, "ns/event", [few ?? ""], 0)}`);
console.log(`all of them at work\n${table(alone, "ns/event", [few ?? "", leastOf(counts[0])], 0)}`);
const isFlat = more.map((name) =>
  meets(
    `an event with ${name}, ${busySessions} of them at work`,
    ratio(figures, name, few ?? ""),
    "at most",
    1.3,
  ),
);
process.exitCode = isFlat.every(Boolean) ? 0 : 1;
