/** Where the user is, of the machines of a fleet: alerts are shown there. */
import { expect, test } from "bun:test";
import type { FleetRecord } from "../../../src/machines/fleet/fleet-file.ts";
import { createPeer } from "../../../src/machines/fleet/peer.ts";
import { createFleetPresence } from "../../../src/machines/fleet/presence.ts";
import { createFleetRecords } from "./simulated.ts";

const silent = { send() {}, ownName: "m0", problem: () => null, schedule: () => () => {}, known: {} };

/** This machine, and two others of the same person. */
function createMachines(kind: FleetRecord["kind"] = "personal") {
  const [own] = createFleetRecords("redis://127.0.0.1", 3);
  if (!own) throw new Error("no record");
  const record: FleetRecord = { ...own, kind };
  let t = 0;
  let ownMs: number | null = null;
  let number = 0;
  const clock = () => ({ at: t, t, boot: "boot", host: "host" });
  const others = record.members.members.filter(({ id }) => id !== own.machine);
  const peers = new Map(others.map(({ id }) => [id, createPeer({ ...silent, clock })]));
  const { findUserElsewhere } = createFleetPresence({
    fleet: () => record,
    peers,
    readPresence: async () => ownMs,
    hasChannels: () => false,
    lastWritten: () => null,
    isConnected: () => true,
    write: async () => {},
    before: async () => {},
    after: async () => {},
    clock,
    schedule: () => () => {},
  });
  return {
    findUserElsewhere,
    advance(ms: number): void {
      t += ms;
    },
    useThis(agoMs: number | null): void {
      ownMs = agoMs;
    },
    /** What the first or second of the others says. */
    hear(other: 0 | 1, inputAgoMs: number | null): void {
      peers
        .get(others[other]?.id ?? "")
        ?.takePulse(++number, { ...clock(), hasChannels: false, inputAgoMs }, 0, true);
    },
  };
}

test("the user is at the machine that had their last input", async () => {
  const { findUserElsewhere, hear, useThis, advance } = createMachines();
  expect(await findUserElsewhere()).toBeNull();
  hear(0, 20_000);
  hear(1, 4_000);
  expect(await findUserElsewhere()).toBe("m2");
  // What the others said is some seconds old when the user comes here.
  advance(8_000);
  useThis(1_000);
  expect(await findUserElsewhere()).toBeNull();
  useThis(25_000);
  expect(await findUserElsewhere()).toBe("m2");
});

test("a machine that is not heard of any more, or where nobody is, keeps no alert away", async () => {
  const { findUserElsewhere, hear, advance } = createMachines();
  hear(0, null);
  expect(await findUserElsewhere()).toBeNull();
  hear(0, 100);
  expect(await findUserElsewhere()).toBe("m1");
  advance(30_000);
  expect(await findUserElsewhere()).toBeNull();
});

test("in a team nobody's alerts depend on where the others are", async () => {
  const { findUserElsewhere, hear } = createMachines("team");
  hear(0, 100);
  expect(await findUserElsewhere()).toBeNull();
});
