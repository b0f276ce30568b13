/** Sessions that are seen and answered through a fleet. Apps, hooks and the server are real. */
import { afterEach, expect, setDefaultTimeout } from "bun:test";
import { createPromptEvent, proj } from "../../app-fixture.ts";
import { writeChannelSettings } from "../../channels/app-fixture.ts";
import { startNtfyServer } from "../../channels/servers/ntfy.ts";
import { testWith } from "../../needs.ts";
import { letTimePass, waitForValue, waitUntil } from "../../wait-until.ts";
import { readAsks } from "../same-history.ts";
import { createFleetLab, type FleetLab } from "./fleet-lab.ts";

setDefaultTimeout(60_000);
const testWithRedis = testWith("redis-server");
const soonMs = 10_000;

type Name = "devbox" | "laptop" | "desktop";
let lab: FleetLab<Name>;
afterEach(() => lab?.destroy());

const findAsk = async (name: Name, session = "s") =>
  (await lab.get(name).fetchSession(session))?.asks.find(({ answerable }) => answerable);

async function start(...names: Name[]): Promise<void> {
  lab = await createFleetLab<Name>(names);
  for (const name of names) await lab.get(name).start();
  await lab.waitForLinks(names);
}

testWithRedis("a session of one machine is listed on the others, and answered from one of them", async () => {
  await start("devbox", "laptop", "desktop");
  await lab.get("devbox").postHook(createPromptEvent("s"));
  const decision = lab.ask("devbox", "s", "npm test");
  for (const name of ["laptop", "desktop"] as const)
    await waitUntil(async () => (await findAsk(name)) !== undefined, soonMs);
  const there = await lab.get("devbox").fetchSession("s");
  expect(await lab.get("laptop").fetchSession("s")).toMatchObject({
    machine: "devbox",
    reachable: true,
    cwd: there?.cwd as string,
  });
  expect((await lab.fetchFleet("laptop"))?.members).toMatchObject([
    { name: "devbox", person: "kim", needing: 1, since: expect.any(Number) },
    { name: "laptop", needing: 0, since: null },
    { name: "desktop", needing: 0, since: null },
  ]);
  const answered = await lab.answer("laptop", "devbox", "s", {
    do: "allow",
    ask: (await findAsk("laptop"))?.answerId,
  });
  expect(answered.status).toBe(200);
  expect(await decision).toContain('"behavior":"allow"');
  for (const name of ["laptop", "desktop"] as const)
    await waitUntil(async () => (await lab.get(name).fetchSession("s"))?.asks.length === 0, soonMs);
});

const bash = (command: string) => ({ tool_name: "Bash", tool_input: { command }, session_id: "s", ...proj });
const openAsk = (name: Name, command: string) =>
  lab.get(name).postHook({ hook_event_name: "PermissionRequest", ...bash(command) });
const endAsk = (name: Name, command: string) =>
  lab.get(name).postHook({ hook_event_name: "PostToolUse", ...bash(command) });

testWithRedis(
  "an ask that opened and ended while the server was away is in the history, and never needs you",
  async () => {
    await start("devbox", "laptop");
    await lab.get("devbox").postHook(createPromptEvent("s"));
    await waitUntil(async () => (await lab.get("laptop").fetchSession("s")) !== undefined, soonMs);
    await lab.server.stop();
    await waitUntil(async () => (await lab.get("laptop").fetchSession("s"))?.reachable === false, soonMs);
    const events = await lab.get("laptop").request("/api/events");
    let said = "";
    const reading = (async () => {
      for await (const bytes of events.body as ReadableStream<Uint8Array>)
        said += Buffer.from(bytes).toString();
    })().catch(() => {});
    await openAsk("devbox", "npm test");
    await waitUntil(async () => (await lab.get("devbox").fetchSession("s"))?.asks.length === 1, soonMs);
    await endAsk("devbox", "npm test");
    await lab.server.start();
    const asks = await waitForValue(
      () => readAsks(lab.get("laptop")),
      (found) => found.length > 0 && found.every(({ how }) => how !== null),
      30_000,
    );
    expect(asks).toMatchObject([{ sessionId: "s", text: "Bash: npm test", how: "allowed" }]);
    await waitUntil(async () => (await lab.get("laptop").fetchSession("s"))?.reachable === true, 30_000);
    expect(said).toContain('"sessionId":"s"');
    expect(said).not.toContain("waiting_permission");
    await lab.get("laptop").stopApps();
    await reading;
  },
);

testWithRedis(
  "if the server hangs, it is not known whether an answer arrived; nothing waits at the agent",
  async () => {
    await start("devbox", "laptop");
    await lab.get("devbox").postHook(createPromptEvent("s"));
    void lab.ask("devbox", "s", "npm test");
    await waitUntil(async () => (await findAsk("laptop")) !== undefined, soonMs);
    const ask = (await findAsk("laptop"))?.answerId;
    lab.server.signal("SIGSTOP");
    const response = await lab.answer("laptop", "devbox", "s", { do: "allow", ask });
    expect(response.status).toBe(409);
    expect(await response.text()).toMatch(/not known whether your answer arrived|cannot be reached/);
    const started = performance.now();
    expect((await endAsk("devbox", "npm test")).status).toBe(200);
    expect(performance.now() - started).toBeLessThan(5_000);
    // The answer comes too late there: it counts for nothing.
    lab.server.signal("SIGCONT");
    await waitUntil(async () => (await lab.get("laptop").fetchSession("s"))?.asks.length === 0, 30_000);
    expect((await readAsks(lab.get("devbox"))).map(({ how }) => how)).toEqual(["allowed"]);
  },
);

testWithRedis("a machine that joins is followed at once, and one that is removed is forgotten", async () => {
  await start("devbox", "laptop");
  await lab.add("desktop");
  await lab.get("desktop").start();
  await lab.waitForLinks(["devbox", "laptop", "desktop"]);
  await lab.get("desktop").postHook(createPromptEvent("s"));
  await waitUntil(async () => (await lab.get("laptop").fetchSession("s")) !== undefined, soonMs);
  const child = lab.get("laptop").spawnBeckon(["fleet", "remove", "desktop", "--yes"]);
  expect(await child.exited).toBe(0);
  await waitUntil(async () => (await lab.get("laptop").fetchSession("s")) === undefined, soonMs);
  await waitUntil(
    async () => (await lab.fetchReports("devbox")).every(({ name }) => name !== "desktop"),
    30_000,
  );
  await waitUntil(async () => (await lab.fetchFleet("desktop"))?.problem?.includes("removed"), 30_000);
});

testWithRedis("one person is told once, also if two of the machines have channels", async () => {
  lab = await createFleetLab<Name>(["devbox", "laptop", "desktop"]);
  const followers = ["laptop", "desktop"] as const;
  const servers = await Promise.all(followers.map(() => startNtfyServer()));
  try {
    for (const [index, name] of followers.entries())
      writeChannelSettings(lab.get(name).paths, {
        phone: { type: "ntfy", server: servers[index] as (typeof servers)[number] },
      });
    for (const name of ["devbox", ...followers] as const) await lab.get(name).start();
    await lab.waitForLinks(["devbox", ...followers]);
    for (const name of followers)
      await waitUntil(
        async () => (await lab.fetchReports(name)).some(({ hasChannels }) => hasChannels),
        soonMs,
        `${name} knows of the other's channel`,
      );
    const isTold = (index: number, command: string) =>
      servers[index]?.messages().some(({ text }) => text.includes(command)) === true;
    await lab.get("devbox").postHook(createPromptEvent("s"));
    void lab.ask("devbox", "s", "npm test");
    await waitUntil(() => isTold(0, "npm test") || isTold(1, "npm test"), soonMs);
    const teller = isTold(0, "npm test") ? 0 : 1;
    await letTimePass(1_500, "the other one would have told by now");
    expect(isTold(1 - teller, "npm test")).toBe(false);
    // The other one does it as soon as this one is gone.
    await lab.get(followers[teller] as Name).stopApps();
    await waitUntil(() => isTold(1 - teller, "npm test"), soonMs);
  } finally {
    await lab.destroy();
    await Promise.all(servers.map((server) => server.stop()));
  }
});
