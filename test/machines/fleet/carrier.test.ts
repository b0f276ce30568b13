/** Sessions that are seen and answered through a fleet. Apps, hooks and the server are real. */
import { afterEach, expect, setDefaultTimeout } from "bun:test";
import { createPromptEvent } from "../../app-fixture.ts";
import { testWith } from "../../needs.ts";
import { waitUntil } from "../../wait-until.ts";
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
  const answered = await lab.answer("laptop", "devbox", "s", {
    do: "allow",
    ask: (await findAsk("laptop"))?.answerId,
  });
  expect(answered.status).toBe(200);
  expect(await decision).toContain('"behavior":"allow"');
  for (const name of ["laptop", "desktop"] as const)
    await waitUntil(async () => (await lab.get(name).fetchSession("s"))?.asks.length === 0, soonMs);
});
