/** What waits for a server that is away. */
import { expect, test } from "bun:test";
import { createOutbox, type Outgoing } from "../../../src/machines/fleet/outbox.ts";
import { blocked, minute } from "../../core/view/menu/fixture.ts";

let count = 0;

/** A state of the session with these asks. */
function createState(session: string, asks: readonly string[], detail = ""): Outgoing {
  const number = ++count;
  const view = blocked("shop", minute);
  const open = asks.map((id) => ({ ...view.asks[0], id }));
  const described = {
    session: { ...view, sessionId: session, newest: 1, detail, asks: open },
    answerable: [],
  };
  return {
    number,
    at: number,
    t: number,
    key: `claude:${session}`,
    message: { kind: "session", seq: number, described },
  };
}

function createEnd(session: string, ask: string): Outgoing {
  const number = ++count;
  const about = { agent: "claude", sessionId: session, ask, how: "allowed", where: "terminal" };
  return {
    number,
    at: number,
    t: number,
    key: `claude:${session}`,
    message: { kind: "ask-ended", seq: number, ...about },
  };
}

test("the newest state of each session stays, and every ask's opening and end, in order", () => {
  const outbox = createOutbox([]);
  const opened = createState("a", ["1"]);
  const ended = createEnd("a", "1");
  const other = createState("b", []);
  for (let n = 0; n < 100; n++) outbox.add(createState("a", []));
  outbox.add(opened);
  for (let n = 0; n < 100; n++) outbox.add(createState("a", [], `step ${n}`));
  outbox.add(ended);
  outbox.add(other);
  const last = createState("a", [], "last");
  outbox.add(last);
  const saved = createOutbox(JSON.parse(JSON.stringify(outbox.save())));
  expect(saved.first(1_000)).toEqual([opened, ended, other, last]);
  expect(saved.first(1_000).map(saved.isLate)).toEqual([true, false, false, false]);
});

test("the file gets no longer than its limit, and the newest are kept", () => {
  const outbox = createOutbox([]);
  const long = "x".repeat(10_000);
  for (let n = 0; n < 500; n++) outbox.add(createState(`s${n}`, [String(n)], long));
  const saved = JSON.stringify(outbox.save());
  expect(saved.length).toBeLessThan(2 * 1024 * 1024);
  expect(saved).toContain("s499");
  expect(outbox.size()).toBeLessThanOrEqual(500);
});

test("a damaged file is read as far as it makes sense", () => {
  const good = { number: 1, at: 1, t: 1, key: null, line: '{"kind":"alive"}' };
  expect(createOutbox([null, 3, { number: -1 }, { ...good, line: "{" }, good]).size()).toBe(1);
});

test("what was added while some was being written waits, also if it was shortened meanwhile", () => {
  const outbox = createOutbox([]);
  for (let n = 0; n < 60; n++) outbox.add(createState("a", []));
  const batch = outbox.first(50);
  for (let n = 0; n < 10; n++) outbox.add(createState("a", []));
  const opened = createState("a", ["1"]);
  outbox.add(opened);
  const last = createState("a", []);
  outbox.add(last);
  outbox.drop(batch.at(-1)?.number ?? 0);
  expect(outbox.first(100).filter(({ number }) => number >= opened.number)).toEqual([opened, last]);
});

test("of more than it keeps, it says what was dropped last", () => {
  const outbox = createOutbox([]);
  const states = Array.from({ length: 5_000 }, (_, n) => createState(`s${n}`, []));
  for (const state of states) outbox.add(state);
  const [first] = outbox.first(1);
  const dropped = states.filter(({ number }) => number < (first?.number ?? 0));
  expect(dropped.length).toBeGreaterThan(0);
  expect(outbox.takeLost()).toBe(dropped.at(-1)?.number ?? 0);
  expect(outbox.takeLost()).toBeNull();
});
