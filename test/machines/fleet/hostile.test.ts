/** Somebody who has the password of a fleet's server, and a machine that was removed: what they write counts for nothing, and is counted. */
import { afterEach, expect, setDefaultTimeout } from "bun:test";
import type { FleetRecord } from "../../../src/machines/fleet/fleet-file.ts";
import { createOwnKeys } from "../../../src/machines/fleet/keys.ts";
import { createPlaces } from "../../../src/machines/fleet/places.ts";
import { createSealer, type SealedPlace } from "../../../src/machines/fleet/seal.ts";
import { createPromptEvent, proj } from "../../app-fixture.ts";
import { testWith } from "../../needs.ts";
import { openInbox } from "../../prompts/inbox.ts";
import { waitForValue, waitUntil } from "../../wait-until.ts";
import { createFleetLab, type FleetLab } from "./fleet-lab.ts";

setDefaultTimeout(60_000);
const testWithRedis = testWith("redis-server");
const soonMs = 15_000;

type Name = "devbox" | "laptop" | "desktop";
let lab: FleetLab<Name>;
afterEach(() => lab?.destroy());

const placesOf = () => createPlaces(lab.readRecord("laptop").id);

async function start(...names: Name[]): Promise<void> {
  lab = await createFleetLab<Name>(names);
  for (const name of names) await lab.get(name).start();
  await lab.waitForLinks(names);
}

/** What each entry of the stream has sealed. */
async function readSealed(stream: string): Promise<string[]> {
  const entries = (await lab.send("XRANGE", stream, "-", "+")) as [string, [string, string]][];
  return entries.map(([, [, sealed]]) => sealed);
}

const write = (stream: string, sealed: string) => lab.send("XADD", stream, "*", "e", sealed);

const waitForDropped = (name: Name, why: string, count = 1) =>
  waitForValue(
    async () => Object(await lab.fetchFleet(name)).dropped as Record<string, number>,
    (dropped) => (dropped[why] ?? 0) >= count,
    soonMs,
  );

/** A state that only its own machine can make. */
const forge = (place: SealedPlace, machine: string, key: string, keys = createOwnKeys()) =>
  createSealer(lab.readRecord("laptop").id, machine, keys)
    .seal(
      place,
      {
        number: Date.now() * 2_000,
        text: '{"at":1,"t":1,"before":null}\n{"kind":"gone","seq":1,"agent":"claude","sessionId":"s"}',
      },
      1,
      Buffer.from(key, "base64url"),
    )
    .toString("base64");

testWithRedis(
  "who has the server's password can repeat, reorder and invent entries, and changes nothing",
  async () => {
    await start("devbox", "laptop");
    const bash = { tool_name: "Bash", tool_input: { command: "npm test" }, session_id: "s", ...proj };
    await lab.get("devbox").postHook(createPromptEvent("s"));
    await lab.get("devbox").postHook({ hook_event_name: "PermissionRequest", ...bash });
    await waitUntil(async () => (await lab.get("laptop").fetchSession("s"))?.asks.length === 1, soonMs);
    await lab.get("devbox").postHook({ hook_event_name: "PostToolUse", ...bash });
    await waitUntil(async () => (await lab.get("laptop").fetchSession("s"))?.asks.length === 0, soonMs);
    const { log, pulses, nowOf } = placesOf();
    const before = await lab.get("laptop").fetchSession("s");
    const said = await readSealed(log);
    // Each of them once more, from the last to the first.
    for (const sealed of said.toReversed()) await write(log, sealed);
    for (const sealed of await readSealed(pulses)) await write(pulses, sealed);
    const others = said.filter((_, index) => index % 2 === 0);
    await waitForDropped("laptop", "repeated", others.length);
    // Written into the place of another machine, into another stream, cut short, and invented.
    const { machine, epochKeys, members } = lab.readRecord("laptop");
    await write(pulses, said[0] ?? "");
    await write(log, said[0]?.slice(0, 40) ?? "");
    await waitForDropped("laptop", "damaged", 2);
    const devbox = members.members.find(({ id }) => id !== machine)?.id ?? "";
    // A member who has the fleet's key cannot speak for another one, and a stranger not for anybody.
    await write(log, forge("log", devbox, epochKeys[1] ?? ""));
    await write(log, forge("log", "00".repeat(8), epochKeys[1] ?? ""));
    await write(log, forge("log", devbox, createOwnKeys().signing));
    await waitForDropped("laptop", "wrong signature");
    await waitForDropped("laptop", "not a member");
    await waitForDropped("laptop", "damaged", 3);
    await lab.send("HSET", nowOf(devbox), "more", (await readSealed(log)).at(0) ?? "");
    expect(await lab.get("laptop").fetchSession("s")).toEqual(before as typeof before & object);
    const listed = await lab.get("laptop").spawnBeckon(["fleet", "list"]).stdout.text();
    expect(listed).toContain("entries dropped since the start");
    expect(listed).toMatch(/devbox +kim +there/);
  },
);

/** A request to devbox as a member would write it, which counts for long. */
function sealRequest({ id, machine, keys, epochKeys }: FleetRecord, request: object): string {
  const head = { to: lab.readRecord("devbox").machine, ends: Date.now() + 30_000 };
  const text = `${JSON.stringify(head)}\n${JSON.stringify(request)}\n`;
  return createSealer(id, machine, keys)
    .seal("request", { number: Date.now() * 1_000, text }, 1, Buffer.from(epochKeys[1] ?? "", "base64url"))
    .toString("base64");
}

testWithRedis("an answer counts once, for one machine, in time", async () => {
  await start("devbox", "laptop", "desktop");
  await lab.get("devbox").postHook(createPromptEvent("s"));
  const decision = lab.ask("devbox", "s", "npm test");
  const findAsk = async (name: Name) =>
    (await lab.get(name).fetchSession("s"))?.asks.find(({ answerable }) => answerable);
  await waitUntil(async () => (await findAsk("laptop")) !== undefined, soonMs);
  const ask = (await findAsk("laptop"))?.answerId;
  expect((await lab.answer("laptop", "devbox", "s", { do: "allow", ask })).status).toBe(200);
  expect(await decision).toContain('"behavior":"allow"');
  const devbox = lab.readRecord("devbox").machine;
  const desktop = lab.readRecord("desktop").machine;
  const { requestsTo } = placesOf();
  const asked = await readSealed(requestsTo(devbox));
  expect(asked.length).toBeGreaterThan(0);
  for (const sealed of asked) {
    await write(requestsTo(devbox), sealed);
    await write(requestsTo(desktop), sealed);
  }
  await waitForDropped("devbox", "repeated", asked.length);
  await waitForDropped("desktop", "not for this machine", asked.length);
});

testWithRedis(
  "a prompt is sent once, also if its request is written again for a beckon that was restarted",
  async () => {
    await start("devbox", "laptop");
    const inbox = openInbox(lab.get("devbox"), "s");
    try {
      await waitUntil(async () => (await lab.get("devbox").fetchSession("s")) !== undefined, soonMs);
      const request = {
        kind: "send",
        id: "1.1",
        promptId: "0000beef",
        agent: "claude",
        sessionId: "s",
        text: "do this",
        when: "idle",
        afterMs: null,
        by: "command line",
      };
      const sealed = sealRequest(lab.readRecord("laptop"), request);
      const { requestsTo } = placesOf();
      const devbox = lab.readRecord("devbox").machine;
      await write(requestsTo(devbox), sealed);
      await waitUntil(() => inbox.taken.length === 1, soonMs);
      await lab.get("devbox").postHook(createPromptEvent("s", { prompt: "do this" }));
      await lab.get("devbox").postHook({ session_id: "s", hook_event_name: "Stop", cwd: "/home/dev/proj" });
      await lab.get("devbox").stopApps();
      await lab.get("devbox").start();
      await write(requestsTo(devbox), sealed);
      // One after it: whatever was before it is done.
      await write(
        requestsTo(devbox),
        sealRequest(lab.readRecord("laptop"), { ...request, promptId: "00000002", text: "then this" }),
      );
      await waitUntil(() => inbox.taken.length > 1, soonMs);
      expect(inbox.taken.map((line) => /do this|then this/.exec(line)?.[0])).toEqual([
        "do this",
        "then this",
      ]);
    } finally {
      inbox.close();
    }
  },
);

testWithRedis("a machine that was removed reads nothing new, and is not heard", async () => {
  await start("devbox", "laptop", "desktop");
  const removed = lab.readRecord("desktop");
  await lab.get("desktop").stopApps();
  expect(await lab.get("laptop").spawnBeckon(["fleet", "remove", "desktop", "--yes"]).exited).toBe(0);
  await waitUntil(
    async () => (await lab.fetchReports("devbox")).every(({ name }) => name !== "desktop"),
    30_000,
  );
  const { log } = placesOf();
  await write(log, forge("log", removed.machine, removed.epochKeys[1] ?? "", removed.keys));
  await waitForDropped("devbox", "not a member");
  // Sealed with a key that it never had.
  await lab.get("devbox").postHook(createPromptEvent("s"));
  await waitUntil(async () => (await lab.get("laptop").fetchSession("s")) !== undefined, soonMs);
  const last = Buffer.from((await readSealed(log)).at(-1) ?? "", "base64");
  expect(last.readUInt32BE(1)).toBe(2);
  expect(Object.keys(removed.epochKeys)).toEqual(["1"]);
});

testWithRedis("in a team nobody answers for somebody else, also with a beckon that was changed", async () => {
  lab = await createFleetLab<Name>(["devbox", "laptop"], { kind: "team", answers: false, share: "minimal" });
  await lab.get("devbox").start();
  await lab.get("devbox").postHook(createPromptEvent("s"));
  void lab.ask("devbox", "s", "npm test");
  const ask = await waitForValue(
    async () => (await lab.get("devbox").fetchSession("s"))?.asks.find(({ answerable }) => answerable),
    (found) => found !== undefined,
    soonMs,
  );
  const devbox = lab.readRecord("devbox").machine;
  const step = { front: "command line", isWholeShown: true, shownMs: null, isConfirmed: true };
  const request = {
    kind: "answer",
    id: "1.1",
    agent: "claude",
    sessionId: "s",
    answerId: ask?.answerId,
    answer: { do: "allow" },
    step,
  };
  const laptop = lab.readRecord("laptop");
  const { requestsTo } = placesOf();
  await write(requestsTo(devbox), sealRequest(laptop, request));
  // It is answered, with a no.
  await waitUntil(async () => (await readSealed(requestsTo(laptop.machine))).length > 0, soonMs);
  expect((await lab.get("devbox").fetchSession("s"))?.asks).toHaveLength(1);
});
