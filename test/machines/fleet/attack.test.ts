/**
 * What somebody with the server's password finds there, and what becomes of what they write: entries from elsewhere, states of before, a
 * flood. What a member can do is in hostile.test.ts. Apps, hooks and the server are real.
 */
import { afterEach, expect, setDefaultTimeout } from "bun:test";
import { randomBytes } from "node:crypto";
import { type FleetRecord, readEpochKeys } from "../../../src/machines/fleet/fleet-file.ts";
import { createOwnKeys } from "../../../src/machines/fleet/keys.ts";
import { createPlaces } from "../../../src/machines/fleet/places.ts";
import { createMachineId, createSealer, type SealedPlace } from "../../../src/machines/fleet/seal.ts";
import { createPromptEvent } from "../../app-fixture.ts";
import { testWith } from "../../needs.ts";
import { waitForValue, waitUntil } from "../../wait-until.ts";
import { createFleetLab, type FleetLab } from "./fleet-lab.ts";

setDefaultTimeout(90_000);
const testWithRedis = testWith("redis-server");
const soonMs = 20_000;
type Name = "devbox" | "laptop";
let lab: FleetLab<Name>;
afterEach(() => lab?.destroy());

async function start(): Promise<ReturnType<typeof createPlaces>> {
  lab = await createFleetLab<Name>(["devbox", "laptop"]);
  for (const name of ["devbox", "laptop"] as const) await lab.get(name).start();
  await lab.waitForLinks(["devbox", "laptop"]);
  await lab.get("devbox").postHook(createPromptEvent("s", { prompt: "zqsecret" }));
  return createPlaces(lab.readRecord("devbox").id);
}

const countAsks = async (name: Name = "laptop"): Promise<number> =>
  (await lab.get(name).fetchSession("s"))?.asks.length ?? 0;
const countDropped = async (name: Name = "laptop"): Promise<number> =>
  Object.values((await lab.fetchFleet(name))?.dropped ?? {}).reduce((sum, count) => sum + count, 0);
const readStream = async (stream: string): Promise<string[]> =>
  ((await lab.send("XRANGE", stream, "-", "+")) as [string, string[]][]).map(([, fields]) => fields[1] ?? "");
const write = (stream: string, sealed: string) => lab.send("XADD", stream, "*", "e", sealed);

/** Opens an ask on devbox, waits until the laptop has it, and answers it from there. */
async function askAndAnswer(command: string): Promise<void> {
  const decision = lab.ask("devbox", "s", command);
  const ask = await waitForValue(
    async () => (await lab.get("laptop").fetchSession("s"))?.asks.find(({ answerable }) => answerable),
    (found) => found !== undefined,
    soonMs,
  );
  const answered = await lab.answer("laptop", "devbox", "s", { do: "allow", ask: ask?.answerId });
  expect(answered.status).toBe(200);
  expect(await decision).toContain('"behavior":"allow"');
  await waitUntil(async () => (await countAsks()) === 0, soonMs);
}

/** As a member would write it, with these keys. */
function seal(record: FleetRecord, place: SealedPlace, text: string): string {
  const { epoch } = record.members;
  const key = readEpochKeys(record).get(epoch) ?? randomBytes(32);
  const number = (Date.now() + 60_000) * 1_000;
  return createSealer(record.id, record.machine, record.keys)
    .seal(place, { number, text }, epoch, key)
    .toString("base64");
}

const forgedHead = JSON.stringify({ at: Date.now(), t: 1, before: null });
const forged = `${forgedHead}\n${JSON.stringify({ kind: "gone", seq: 1, agent: "claude", sessionId: "s" })}\n`;

testWithRedis("the server has nothing that can be read", async () => {
  await start();
  await askAndAnswer("npm test zqsecret");
  const keys = (await lab.send("KEYS", "*")) as string[];
  let everything = keys.join("\n");
  for (const key of keys) {
    const type = await lab.send("TYPE", key);
    const value =
      type === "hash" ? lab.send("HGETALL", key) : type === "stream" ? readStream(key) : lab.send("GET", key);
    everything += JSON.stringify(await value);
  }
  const sealed = everything.match(/[\w+/=-]{40,}/g) ?? [];
  everything += sealed.map((text) => Buffer.from(text, "base64").toString("latin1")).join();
  expect(everything.length).toBeGreaterThan(5_000);
  // No shorter words: they turn up by chance in so many random letters.
  for (const secret of ["zqsecret", "devbox", "laptop", "claude", "permission"])
    expect(everything).not.toContain(secret);
});

testWithRedis(
  "what is forged, copied from elsewhere or said again counts for nothing, and is counted",
  async () => {
    const { log, pulses, nowOf } = await start();
    const devbox = lab.readRecord("devbox");
    const before = await readStream(log);
    const decision = lab.ask("devbox", "s", "npm test");
    await waitUntil(async () => (await countAsks()) === 1, soonMs);
    const states = (await lab.send("HGETALL", nowOf(devbox.machine))) as Record<string, string>;
    const asked = await readStream(log);
    const ask = (await lab.get("laptop").fetchSession("s"))?.asks[0];
    await lab.answer("laptop", "devbox", "s", { do: "allow", ask: ask?.answerId });
    expect(await decision).toContain('"behavior":"allow"');
    await waitUntil(async () => (await countAsks()) === 0, soonMs);
    const dropped = await countDropped();

    // Not sealed at all; with a stranger's keys; of another fleet; for another place.
    const stranger: FleetRecord = {
      ...devbox,
      keys: createOwnKeys(),
      epochKeys: { 1: randomBytes(32).toString("base64url") },
    };
    const insider: FleetRecord = { ...devbox, keys: createOwnKeys() };
    const unlisted: FleetRecord = { ...insider, machine: createMachineId() };
    const elsewhere: FleetRecord = { ...devbox, id: "0".repeat(32) };
    const attempts = [
      randomBytes(300).toString("base64"),
      ...[stranger, insider, unlisted, elsewhere].map((record) => seal(record, "log", forged)),
      seal(devbox, "pulse", forged),
    ];
    for (const sealed of attempts) await write(log, sealed);
    // The log's own entries again, in another order, and at other places.
    for (const sealed of [...asked].reverse()) await write(log, sealed);
    for (const sealed of before) await write(pulses, sealed);
    await waitUntil(
      // The laptop's own entries are among them, which it does not read.
      async () => (await countDropped()) >= dropped + attempts.length + before.length,
      soonMs,
    );
    expect(await countAsks()).toBe(0);
    expect(await lab.get("laptop").fetchSession("s")).toBeDefined();

    // The states of before, which are read after a start.
    await lab.get("laptop").stopApps();
    for (const [field, sealed] of Object.entries(states))
      await lab.send("HSET", nowOf(devbox.machine), field, sealed);
    await lab.get("laptop").start();
    await lab.waitForLinks(["laptop"], ["devbox"]);
    expect(await countAsks()).toBe(0);
  },
);

testWithRedis("a flood holds nothing up for long", async () => {
  const { log, pulses } = await start();
  const redis = lab.server.open();
  for (let round = 0; round < 20; round++)
    await Promise.all(
      Array.from({ length: 250 }, () =>
        redis.send("XADD", [round % 2 === 0 ? log : pulses, "*", "e", randomBytes(600).toString("base64")]),
      ),
    );
  redis.close();
  await askAndAnswer("npm test");
  expect(await countDropped()).toBeGreaterThan(2_000);
});
