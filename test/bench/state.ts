/** What one event costs the state with 10, 1,000 and 10,000 sessions: it should be the same. */
import { openEnvelope, stamp } from "../../src/agents/envelope.ts";
import { agents } from "../../src/agents/index.ts";
import type { AgentEvent } from "../../src/core/event.ts";
import { createStore } from "../../src/store.ts";
import { createClock } from "../../src/watch/machine.ts";
import { bodies, sessionIdOf } from "./bodies.ts";
import { interleave, meets, ratio, table } from "./rounds.ts";

const rounds = 15;
const events = 20_000;
const counts = [10, 1_000, 10_000] as const;
/** As many as any case touches in a round, so that all find the same in the processor's cache. */
const busySessions = 10;

const here = createClock()();
const nameOf = (sessions: number) => `${sessions.toLocaleString("en")} sessions`;

function* translated(part: number): Generator<AgentEvent> {
  const work = { part, sessions: busySessions, events, since: Date.now() - 60 * 60_000 };
  for (const { id, text } of bodies(work)) {
    const hook = openEnvelope(JSON.parse(text), "claude", here.host);
    const event = hook && agents.claude?.translate(hook, { ...stamp(hook.meta, here), id, key: id });
    if (event) yield event;
  }
}

const stores = counts.map((sessions) => {
  const store = createStore();
  const [first] = translated(0);
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

const figures = await interleave(
  stores.map(({ sessions, store }) => ({
    name: nameOf(sessions),
    run(round) {
      const list = [...translated(round + 4)].map((event) => spread(event, sessions));
      Bun.gc(true);
      const started = performance.now();
      for (const event of list) store.dispatch(event);
      return ((performance.now() - started) * 1e6) / list.length;
    },
  })),
  { rounds },
);
const [few, ...more] = counts.map(nameOf);
console.log(table(figures, "ns/event", [few ?? ""], 0));
const isFlat = more.map((name) =>
  meets(`an event with ${name}`, ratio(figures, name, few ?? ""), "at most", 1.3),
);
process.exitCode = isFlat.every(Boolean) ? 0 : 1;
