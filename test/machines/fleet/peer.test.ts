/** One other machine of a fleet, as it is followed: what its log says counts once, and in order. */
import { expect, test } from "bun:test";
import { createPeer, type NumberedText } from "../../../src/machines/fleet/peer.ts";
import type { OwnerMessage } from "../../../src/machines/protocol.ts";
import { blocked, minute, now } from "../../core/view/menu/fixture.ts";

const hello: Extract<OwnerMessage, { kind: "hello" }> = {
  kind: "hello",
  protocol: 1,
  version: "1",
  now,
  machineId: "other",
  agents: [],
  hasChannels: false,
};

const createState = (number: number, before: number | null): NumberedText => ({
  number,
  head: { ...now, before },
  message: {
    kind: "session",
    seq: number,
    described: {
      session: { ...blocked("shop", minute), newest: 1, detail: `step ${number}` },
      answerable: [],
    },
  },
});

/** `followedTo`: what an earlier run has saved. */
function createFollowedPeer(followedTo: number | null = null) {
  const asked: number[] = [];
  let holding: (() => void) | null = null;
  const peer = createPeer({
    known: {},
    clock: () => ({ ...now, boot: "boot", host: "host" }),
    ownName: "laptop",
    send(request) {
      if (request.kind === "hello") asked.push(request.resume?.seq ?? 0);
    },
    problem: () => null,
    schedule(work) {
      holding = work;
      return () => {
        holding = null;
      };
    },
  });
  const steps: unknown[] = [];
  const past: unknown[] = [];
  const carrier = peer.follow({
    greeting: () => (followedTo === null ? {} : { resume: { machineId: "other", seq: followedTo } }),
    onOpened() {},
    onLost() {},
    onMessage(message) {
      if (message.kind === "session") steps.push(message.described.session.detail);
      if (message.kind === "missed") past.push(...message.sessions);
    },
  });
  const pulse = (more = {}) => peer.takePulse(++pulses, { ...now, hasChannels: false, ...more }, 0, true);
  const open = (number: number, more = {}) => {
    pulse(more);
    peer.takeLatest({ hello, sessions: [], number });
  };
  /** Nothing more has come for a while. */
  const wait = () => holding?.();
  return { peer, carrier, steps, past, asked, pulse, open, wait };
}

let pulses = 0;

function openPeer() {
  const followed = createFollowedPeer();
  followed.open(2);
  return followed;
}

test("entries that are written again behind the newest do not put an older state back", () => {
  const { peer, steps } = openPeer();
  const entries = [createState(3, 2), createState(4, 3), createState(5, 4)];
  // Read in one go: the second of the repeated ones is newer than the one before it.
  expect(peer.take([...entries, ...entries])).toBe(3);
  expect(steps).toEqual(["step 5"]);
  expect(peer.take(entries)).toBe(3);
  expect(steps).toEqual(["step 5"]);
});

test("entries that were lost while beckon did not run here are asked for until they are known", () => {
  const { peer, carrier, asked, open, pulse } = createFollowedPeer(4);
  // 5 to 9 were trimmed.
  peer.take([createState(10, 9)]);
  open(10);
  expect({ asked, isMissing: carrier.isMissing() }).toEqual({ asked: [4], isMissing: true });
  pulse();
  expect(asked).toEqual([4, 4]);
  peer.takeReply({ kind: "missed", sessions: [], isPart: true, upTo: 11 });
  expect(carrier.isMissing()).toBe(true);
  peer.takeReply({ kind: "missed", sessions: [], upTo: 11 });
  expect(carrier.isMissing()).toBe(false);
});

test("what it said before something else was lost does not count as the answer to that", () => {
  const { peer, carrier } = openPeer();
  peer.take([createState(5, 4)]);
  expect(carrier.isMissing()).toBe(true);
  peer.take([createState(8, 7)]);
  peer.takeReply({ kind: "missed", sessions: [], upTo: 6 });
  expect(carrier.isMissing()).toBe(true);
  peer.takeReply({ kind: "missed", sessions: [], upTo: 9 });
  expect(carrier.isMissing()).toBe(false);
});

test("an answer that comes while nobody can take it is asked for again", () => {
  const { peer, carrier, asked, open } = openPeer();
  peer.take([createState(5, 4)]);
  peer.lose("the server is away");
  peer.takeReply({ kind: "missed", sessions: [], upTo: 9 });
  expect(carrier.isMissing()).toBe(true);
  open(5);
  expect(asked).toEqual([2]);
});

test("every ask of a long pause is known, however many there were", () => {
  const { peer, past, open } = createFollowedPeer();
  for (let n = 1; n <= 600; n += 2) {
    const { head, number, message } = createState(n, n - 1);
    if (message.kind !== "session") return;
    const { session } = message.described;
    const [ask] = session.asks as { id: string }[];
    const asking = {
      ...message,
      described: {
        session: {
          ...session,
          asks: [
            { ...ask, id: `a${n}` },
            { ...ask, id: `b${n}` },
          ],
        },
        answerable: [],
      },
    };
    const asked = { ...message, described: { session: { ...session, asks: [] }, answerable: [] } };
    peer.take([
      { head, number, message: asking },
      { head: { ...head, before: n }, number: n + 1, message: asked },
    ]);
  }
  open(600);
  expect(past).toHaveLength(600);
});

test("who follows a machine from an earlier point than before is told what it lacks", async () => {
  const { peer, carrier: first, asked, open } = openPeer();
  peer.take([createState(3, 2), createState(4, 3)]);
  await first.stop();
  const carrier = peer.follow({
    greeting: () => ({ resume: { machineId: "other", seq: 1 } }),
    onOpened() {},
    onLost() {},
    onMessage() {},
  });
  open(4);
  expect({ asked, isMissing: carrier.isMissing() }).toEqual({ asked: [1], isMissing: true });
  peer.takeReply({ kind: "missed", sessions: [], upTo: 5 });
  expect(carrier.isMissing()).toBe(false);
});

const createLate = (number: number, before: number): NumberedText => {
  const state = createState(number, before);
  return { ...state, head: { ...state.head, at: now.at - 5_000 } };
};

test("what a server that hung hands out late is not shown before it is known what followed", () => {
  const { peer, steps, wait } = openPeer();
  peer.take([createLate(3, 2)]);
  expect(steps).toEqual([]);
  // The machine tries again: the first is repeated, the second is new.
  expect(peer.take([createLate(3, 2), createLate(4, 3)])).toBe(1);
  expect(steps).toEqual([]);
  wait();
  expect(steps).toEqual(["step 4"]);
  peer.take([createLate(5, 4)]);
  peer.take([createState(6, 5)]);
  expect(steps).toEqual(["step 4", "step 6"]);
});

test("what came late is in the history, but not shown, if the server is away before it is known what followed", () => {
  const { peer, steps, past, open } = openPeer();
  peer.take([createLate(3, 2)]);
  peer.lose("the server is away");
  const { sessionId } = blocked("shop", minute);
  const gone = { kind: "gone", seq: 4, agent: "claude", sessionId } as const;
  peer.take([{ number: 4, head: { ...now, before: 3 }, message: gone }]);
  open(4);
  expect(steps).toEqual([]);
  expect(past).toHaveLength(1);
});

test("what the server has lost is missed also if the machine says nothing after it", () => {
  const { peer, asked, pulse, open } = openPeer();
  peer.take([createState(3, 2)]);
  pulse({ last: 3 });
  expect(peer.needsLatest()).toBe(false);
  pulse({ last: 5 });
  expect(peer.needsLatest()).toBe(true);
  // The last of them was the end of an ask, which is in no state.
  open(4, { last: 5 });
  expect({ asked, needsLatest: peer.needsLatest() }).toEqual({ asked: [3], needsLatest: false });
  pulse({ last: 5 });
  expect(peer.needsLatest()).toBe(false);
});
