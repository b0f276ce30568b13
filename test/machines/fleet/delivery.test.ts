/** What a machine has at the server, and what another reads of it. The server is real. */
import { afterAll, beforeAll, expect, setDefaultTimeout } from "bun:test";
import { createFleetDelivery } from "../../../src/machines/fleet/delivery.ts";
import type { FleetRecord } from "../../../src/machines/fleet/fleet-file.ts";
import { createOutbox } from "../../../src/machines/fleet/outbox.ts";
import { createPeer } from "../../../src/machines/fleet/peer.ts";
import { createPlaces } from "../../../src/machines/fleet/places.ts";
import { createFleetReader } from "../../../src/machines/fleet/reader.ts";
import { schedule } from "../../../src/system/schedule.ts";
import { blocked, minute, now } from "../../core/view/menu/fixture.ts";
import { testWith } from "../../needs.ts";
import { waitForValue, waitUntil } from "../../wait-until.ts";
import { startRedis } from "./redis-server.ts";
import { createFleetRecords, simulateMachine } from "./simulated.ts";

setDefaultTimeout(30_000);
const testWithRedis = testWith("redis-server");
let server: Awaited<ReturnType<typeof startRedis>>;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server?.destroy());

const clock = () => ({ ...now, boot: "boot", host: "host" });
const described = { session: { ...blocked("shop", minute), sessionId: "s" }, answerable: [] };

function createMember(record: FleetRecord) {
  const outbox = createOutbox([]);
  let number = 0;
  const redis = server.open();
  const delivery = createFleetDelivery({
    fleet: () => record,
    redis,
    outbox,
    nextNumber: () => ++number,
    hello: () => ({
      kind: "hello",
      protocol: 1,
      version: "1",
      now,
      machineId: record.machine,
      agents: [],
      hasChannels: false,
    }),
    describeAll: () => new Map([["claude:s", described]]),
    maxEntries: () => 100,
    onChange() {},
    clock,
    schedule,
  });
  const { nowOf } = createPlaces(record.id);
  return {
    delivery,
    addChange() {
      outbox.add({
        ...now,
        number: ++number,
        key: "claude:s",
        message: { kind: "session", seq: number, described },
      });
      delivery.flush();
    },
    waitForFields: async (count: number) => {
      const readFields = async () =>
        Object.keys(Object(await redis.send("HGETALL", [nowOf(record.machine)])));
      return waitForValue(readFields, (fields) => fields.length === count, 10_000);
    },
  };
}

testWithRedis("the first change of a new machine does not keep its hello from the server", async () => {
  const [record] = createFleetRecords(server.url, 1);
  if (!record) throw new Error("no record");
  const { addChange, waitForFields } = createMember(record);
  addChange();
  expect(await waitForFields(2)).toContain("hello");
});

testWithRedis("what a server has lost is written again, also if the connection has stayed", async () => {
  const [record] = createFleetRecords(server.url, 1);
  if (!record) throw new Error("no record");
  const { delivery, waitForFields } = createMember(record);
  delivery.flush();
  await waitForFields(2);
  const redis = server.open();
  await redis.send("FLUSHALL", []);
  redis.close();
  await delivery.check();
  await waitForFields(2);
});

testWithRedis("what was read of a machine can be saved at once, with its position", async () => {
  const [own, other] = createFleetRecords(server.url, 2);
  if (!own || !other) throw new Error("no records");
  const { log } = createPlaces(own.id);
  const peer = createPeer({
    known: {},
    clock,
    ownName: "laptop",
    send() {},
    problem: () => null,
    schedule: () => () => {},
  });
  let saved: { position: string | null; states: object } = { position: null, states: {} };
  const reader = createFleetReader({
    fleet: () => own,
    openRedis: () => server.open(),
    readMembers: async () => {},
    peerOf: () => peer,
    peers: () => new Map([[other.machine, peer]]),
    onRequest() {},
    onConnected() {},
    onRead() {
      saved = { position: reader.position(), states: peer.states() };
    },
    onChange() {},
    onProblem() {},
    position: null,
    schedule,
  });
  try {
    await waitUntil(() => reader.isConnected(), 10_000);
    const redis = server.open();
    const machine = simulateMachine(other);
    const id = await redis.send("XADD", [log, "*", "e", machine.change(1, "step")]);
    redis.close();
    await waitUntil(() => saved.position === id, 10_000, "the position is saved");
    expect(Object.values(saved.states)).toEqual([machine.last]);
  } finally {
    await reader.stop();
  }
});
