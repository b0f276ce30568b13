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
    described: { session: { ...blocked("shop", minute), detail: `step ${number}` }, answerable: [] },
  },
});

function openPeer() {
  const peer = createPeer({
    known: {},
    clock: () => ({ ...now, boot: "boot", host: "host" }),
    ownName: "laptop",
    send() {},
    problem: () => null,
  });
  const steps: unknown[] = [];
  peer.follow({
    onOpened() {},
    onLost() {},
    onMessage(message) {
      if (message.kind === "session") steps.push(message.described.session.detail);
    },
  });
  peer.takePulse(1, { ...now, hasChannels: false }, 0);
  peer.takeLatest({ hello, sessions: [], number: 2 });
  return { peer, steps };
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
