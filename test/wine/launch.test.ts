/** On Windows: a session starts the app, which lives on after its hook, and `beckon stop` ends it. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { testWith } from "../needs.ts";
import { until } from "../world.ts";
import { buildBeckon, createWineWorld, hasWine, type WineWorld, wineNeeds } from "./world.ts";

const test = testWith(...wineNeeds);
const port = String(20_000 + Math.floor(Math.random() * 20_000));
let world: WineWorld;
let exe = "";

beforeAll(async () => {
  if (!hasWine) return;
  world = await createWineWorld();
  exe = buildBeckon(world);
}, 120_000);
afterAll(() => world?.destroy(), 30_000);

const inState = (name: string) => join(world.appData, "Local/beckon", name);
/** Its exit code. What it starts keeps Wine's own stderr open, so that is not read to its end. */
const sessionStarts = (session_id: string) => {
  const payload = { session_id, hook_event_name: "SessionStart", source: "startup", cwd: "C:\\code" };
  const hook = world.spawn(exe, ["hook", "claude"], { BECKON_PORT: port });
  hook.stdin.write(JSON.stringify(payload));
  hook.stdin.end();
  return hook.exited;
};
const status = async () => JSON.parse((await world.run(exe, ["status", "--json"])).stdout);

describe("beckon on Windows", () => {
  test("is started by a session, stopped by its person, and left alone then", async () => {
    expect(await sessionStarts("one")).toBe(0);
    await until(() => existsSync(inState("endpoint.json")), 15_000);
    expect(await status()).toMatchObject({ sessions: [{ sessionId: "one" }] });

    const stopped = await world.run(exe, ["stop"]);
    expect(stopped.stdout).toStartWith("beckon is stopped.");
    expect(existsSync(inState("endpoint.json"))).toBe(false);

    expect(await sessionStarts("two")).toBe(0);
    expect(existsSync(inState("launching"))).toBe(false);
    expect(readFileSync(inState("spool.jsonl"), "utf8")).toContain('"two"');
    expect((await world.run(exe, ["stop"])).stdout).toStartWith("beckon is not running.");
  }, 60_000);
});
