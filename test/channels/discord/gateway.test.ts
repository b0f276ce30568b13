import { afterEach, describe, expect, test } from "bun:test";
import { createGateway, type GatewayOptions } from "../../../src/channels/discord/gateway.ts";
import type { JsonRecord } from "../../../src/core/json.ts";
import { schedule as systemSchedule } from "../../../src/system/schedule.ts";
import { waitUntil } from "../../wait-until.ts";
import { type DiscordServer, startDiscordServer } from "../servers/discord.ts";
import { startHandshakeServer } from "../servers/handshake.ts";

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** All times of the gateway pass this many times faster. */
const speed = 20;

async function connect(
  options: Partial<GatewayOptions> = {},
  prepare: (server: DiscordServer) => void = () => {},
) {
  const server = await startDiscordServer({ heartbeatMs: 4_000 });
  prepare(server);
  const dispatched: { type: string; data: unknown }[] = [];
  const problems: string[] = [];
  const delays: number[] = [];
  const gateway = createGateway({
    token: server.secrets.token ?? "",
    findGateway: async () => ({ url: server.api.url.replace("http", "ws") }),
    isLocal: true,
    onDispatch: (type, data) => dispatched.push({ type, data }),
    onProblem: (text) => problems.push(text),
    schedule(work, ms) {
      delays.push(ms);
      return systemSchedule(work, ms / speed);
    },
    ...options,
  });
  gateway.start();
  cleanUps.push(
    () => server.stop(),
    () => gateway.stop(),
  );
  return { server, gateway, dispatched, problems, delays };
}

const isWorking = ({ server, gateway }: Awaited<ReturnType<typeof connect>>) =>
  server.gateway.isReady() && gateway.problem() === null;

const tap: JsonRecord = { op: 0, s: 9, t: "INTERACTION_CREATE", d: { id: "1" } };

describe("a connection", () => {
  test("identifies itself without intents and reports what Discord dispatches", async () => {
    const opened = await connect();
    await waitUntil(() => isWorking(opened), 5_000);
    expect(opened.server.gateway.starts).toMatchObject([{ op: 2, d: { intents: 0 } }]);
    opened.server.gateway.send(tap);
    await waitUntil(() => opened.dispatched.length === 1, 5_000);
    expect(opened.dispatched).toEqual([{ type: "INTERACTION_CREATE", data: { id: "1" } }]);
    expect(opened.problems).toEqual([]);
  });

  test("sends heartbeats, also when Discord asks for one", async () => {
    const opened = await connect();
    await waitUntil(() => opened.server.gateway.heartbeats() >= 2, 5_000);
    const before = opened.server.gateway.heartbeats();
    opened.server.gateway.send({ op: 1 });
    await waitUntil(() => opened.server.gateway.heartbeats() > before, 5_000);
    expect(opened.server.gateway.count()).toBe(1);
  });
});

test.each([
  ["without TLS", { isLocal: false }],
  ["without TLS on another machine", { findGateway: async () => ({ url: "ws://192.0.2.1" }) }],
])("the token is not sent to a gateway %s", async (_name, options) => {
  const opened = await connect(options);
  await waitUntil(() => opened.gateway.problem() !== null, 5_000);
  expect(opened.gateway.problem()).toBe("Discord did not name its gateway");
  expect(opened.server.gateway.starts).toEqual([]);
});

test("no compression is accepted, in which a short message could be a GB", async () => {
  const { url, extensions, stop } = startHandshakeServer();
  cleanUps.push(stop);
  await connect({ findGateway: async () => ({ url }) });
  expect(await extensions).toBeNull();
});

describe("a connection that is lost", () => {
  test.each([
    ["is reset", (server: DiscordServer) => server.gateway.reset()],
    ["is closed for an unknown reason", (server: DiscordServer) => server.gateway.close(4000)],
    ["is asked to reconnect", (server: DiscordServer) => server.gateway.send({ op: 7, d: null })],
    ["is invalid but can be resumed", (server: DiscordServer) => server.gateway.send({ op: 9, d: true })],
  ])("one that %s is resumed where it stopped", async (_name, lose) => {
    const opened = await connect();
    await waitUntil(() => isWorking(opened), 5_000);
    opened.server.gateway.send(tap);
    await waitUntil(() => opened.dispatched.length === 1, 5_000);
    lose(opened.server);
    await waitUntil(() => opened.server.gateway.starts.length === 2, 5_000);
    expect(opened.server.gateway.starts[1]).toMatchObject({ op: 6, d: { session_id: "session-1", seq: 9 } });
    opened.server.gateway.send({ ...tap, s: 12 });
    await waitUntil(() => opened.dispatched.length === 2, 5_000);
  });

  test.each([
    ["has an invalid session", (server: DiscordServer) => server.gateway.send({ op: 9, d: false })],
    ["has timed out", (server: DiscordServer) => server.gateway.close(4009)],
    ["was closed normally", (server: DiscordServer) => server.gateway.close(1000)],
  ])("one that %s starts again with a new session", async (_name, lose) => {
    const opened = await connect();
    await waitUntil(() => isWorking(opened), 5_000);
    lose(opened.server);
    await waitUntil(() => opened.server.gateway.starts.length === 2, 5_000);
    expect(opened.server.gateway.starts[1]).toMatchObject({ op: 2 });
  });

  test("one that stopped answering, as after the laptop slept, is replaced", async () => {
    const opened = await connect();
    await waitUntil(() => isWorking(opened), 5_000);
    opened.server.gateway.freeze();
    await waitUntil(() => opened.server.gateway.starts.length === 2, 5_000);
    expect(opened.server.gateway.starts[1]).toMatchObject({ op: 6 });
    expect(opened.problems).toEqual(["Discord's gateway stopped answering"]);
    await waitUntil(() => isWorking(opened), 5_000);
  });

  test("one whose handshake is never answered is given up", async () => {
    const opened = await connect({}, (server) => server.gateway.stall(true));
    await waitUntil(() => opened.gateway.problem() === "Discord's gateway does not answer", 5_000);
    opened.server.gateway.stall(false);
    await waitUntil(() => isWorking(opened), 5_000);
  });

  test("a server that cannot be reached is tried less and less often", async () => {
    const opened = await connect({
      findGateway: () => Promise.reject(new Error("discord.com cannot be reached")),
    });
    await waitUntil(() => opened.delays.length >= 6, 10_000);
    expect(opened.delays.slice(0, 6)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000]);
    expect(opened.problems).toEqual(["discord.com cannot be reached"]);
  });

  test("a bot that has connected too often today waits until Discord lets it", async () => {
    let remaining = 0;
    const opened = await connect({
      findGateway: async () => ({
        url: opened.server.api.url.replace("http", "ws"),
        session_start_limit: { remaining: remaining++, reset_after: 7_000 },
      }),
    });
    await waitUntil(() => isWorking(opened), 5_000);
    expect(opened.delays).toContain(7_000);
  });
});

describe("a server that lies", () => {
  test("a token that is refused is tried again after five minutes, not at once", async () => {
    const opened = await connect({ token: "wrong" });
    await waitUntil(() => opened.gateway.problem()?.includes("token is not valid"), 5_000);
    expect(opened.delays).toContain(300_000);
    expect(opened.server.gateway.count()).toBe(1);
  });

  test("one that asks for a pause that no timer can wait is asked again after a day, not at once", async () => {
    const opened = await connect({
      findGateway: async () => ({
        url: "wss://gateway.example",
        session_start_limit: { remaining: 0, reset_after: 1e12 },
      }),
    });
    await waitUntil(() => opened.delays.length > 0, 5_000);
    expect(opened.delays).toEqual([86_400_000]);
  });

  test.each([
    ["no data", { op: 10, d: null }],
    ["an interval of zero", { op: 10, d: { heartbeat_interval: 0 } }],
    ["an interval of a millisecond", { op: 10, d: { heartbeat_interval: 1 } }],
    ["an interval that is text", { op: 10, d: { heartbeat_interval: "soon" } }],
  ])("a greeting with %s neither ends the process nor floods the server", async (_name, hello) => {
    const opened = await connect({}, (server) => server.gateway.setHello(hello));
    await waitUntil(() => isWorking(opened), 5_000);
    const beats = opened.delays.filter((ms) => ms > 1 && ms !== 15_000);
    expect(beats.every((ms) => ms <= 120_000)).toBe(true);
    expect(opened.server.gateway.heartbeats()).toBeLessThan(5);
  });

  test("a resume address that is not one is not used", async () => {
    const opened = await connect({}, (server) => server.gateway.setReady({ resume_gateway_url: "nonsense" }));
    await waitUntil(() => isWorking(opened), 5_000);
    opened.server.gateway.reset();
    await waitUntil(() => opened.server.gateway.starts.length === 2, 5_000);
    expect(opened.server.gateway.starts[1]).toMatchObject({ op: 2 });
  });

  test.each([
    "",
    "null",
    "7",
    "[]",
    '"x"',
    "{",
    '{"op":"0"}',
    '{"op":0,"t":7}',
    '{"op":99}',
    '{"op":0,"t":"READY","d":7}',
  ])("the frame %j changes nothing", async (text) => {
    const opened = await connect();
    await waitUntil(() => isWorking(opened), 5_000);
    opened.server.gateway.sendText(text);
    opened.server.gateway.send(tap);
    await waitUntil(() => opened.dispatched.length === 1, 5_000);
    expect(opened.server.gateway.count()).toBe(1);
  });

  test("one that asks to reconnect again and again is not followed without a pause", async () => {
    const opened = await connect();
    for (let round = 1; round <= 3; round++) {
      await waitUntil(() => opened.server.gateway.starts.length === round && isWorking(opened), 5_000);
      opened.server.gateway.send({ op: 7 });
    }
    await waitUntil(() => opened.server.gateway.starts.length === 4, 5_000);
    expect(opened.delays.filter((ms) => ms === 1_000)).toHaveLength(3);
  });
});

test("after stop there is no connection and no attempt", async () => {
  const opened = await connect();
  await waitUntil(() => isWorking(opened), 5_000);
  opened.gateway.stop();
  await waitUntil(() => !opened.server.gateway.isReady(), 5_000);
  expect(opened.gateway.problem()).toBeNull();
  expect(opened.server.gateway.count()).toBe(1);
});
