/** How far a machine was followed: only as far as everything is known. */
import { expect, test } from "bun:test";
import { firstGrowingIdAt } from "../../src/core/growing-ids.ts";
import type { CarrierEvents } from "../../src/machines/carrier.ts";
import { linkMachine } from "../../src/machines/linked-machine.ts";
import { createProgress } from "../../src/machines/progress.ts";
import type { DescribedPast, OwnerMessage } from "../../src/machines/protocol.ts";
import { now } from "../core/view/menu/fixture.ts";

const hello: Extract<OwnerMessage, { kind: "hello" }> = {
  kind: "hello",
  protocol: 1,
  version: "1",
  now,
  machineId: "other",
  agents: [],
  hasChannels: false,
};

function link() {
  const past: string[] = [];
  const problems: string[] = [];
  let isMissing = false;
  let events: CarrierEvents | null = null;
  const progress = createProgress(
    {},
    () => ({ schedule() {}, flush() {} }),
    () => {},
  );
  linkMachine({
    name: "devbox",
    ownId: "this",
    clock: () => ({ ...now, boot: "boot", host: "host" }),
    sessions: () => [],
    get: () => null,
    replace() {},
    remove() {},
    onAskEnded() {},
    onProblem: (text) => problems.push(text),
    schedule: () => () => {},
    progress,
    history: { addPast: (_, { sessionId }) => past.push(sessionId), onMachineListed() {} },
    refuse: () => null,
    onChange() {},
    open(given) {
      events = given;
      return {
        send: () => true,
        isMissing: () => isMissing,
        problem: () => null,
        problemKind: () => "down",
        retryNow() {},
        stop: async () => {},
      };
    },
  });
  (events as unknown as CarrierEvents).onOpened(hello);
  return {
    past,
    problems,
    take: (message: OwnerMessage) => (events as unknown as CarrierEvents).onMessage(message),
    setMissing(value: boolean) {
      isMissing = value;
    },
    followedTo: () => progress.get("devbox")?.seq,
  };
}

const createPast = (sessionId: string): DescribedPast => ({
  agent: "claude",
  sessionId,
  project: null,
  cwd: null,
  branch: null,
  title: null,
  model: null,
  startedAt: 0,
  lastAt: 0,
  endedAt: null,
  attended: null,
  tokens: null,
  costMicros: null,
  asks: [],
  spans: [],
});

test("a machine that has not said yet what was missed is asked for it again by the next link", () => {
  const start = firstGrowingIdAt(now.at);
  const { take, followedTo, setMissing } = link();
  take({ kind: "sessions", seq: start + 10, sessions: [] });
  expect(followedTo()).toBe(start + 10);
  setMissing(true);
  take({ kind: "sessions", seq: start + 20, sessions: [] });
  take({ kind: "gone", seq: start + 21, agent: "claude", sessionId: "s" });
  expect(followedTo()).toBe(start + 10);
  setMissing(false);
  take({ kind: "missed", sessions: [] });
  expect(followedTo()).toBe(start + 21);
});

test("what was missed again and again in an hour is all known", () => {
  const { take, past, problems } = link();
  const names = Array.from({ length: 500 }, (_, n) => `s${n}`);
  for (const name of names) take({ kind: "missed", sessions: [createPast(name)] });
  expect(past).toEqual(names);
  const flood = Array.from({ length: 500 }, () => createPast("s"));
  for (let n = 0; n < 200; n++) take({ kind: "missed", sessions: flood });
  expect(past.length).toBeLessThanOrEqual(50_000);
  expect(problems).toEqual(["devbox says more of its past than beckon keeps: the rest is dropped"]);
});
