/** Auto-launch on Windows: a session starts the app, which outlives the hook, and `beckon stop` ends it. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { buildBeckon, createWine, hasWine, type Wine, wineNeeds } from "./wine.ts";

const test = testWith(...wineNeeds);
const waitMs = 20_000;
const port = String(20_000 + Math.floor(Math.random() * 20_000));
let wine: Wine;
let exe = "";

beforeAll(async () => {
  if (!hasWine) return;
  wine = await createWine();
  exe = buildBeckon(wine);
}, 120_000);
afterAll(() => wine?.destroy(), 30_000);

const statePath = (name: string) => join(wine.appData, "Local/beckon", name);
/** Returns the exit code. The app that it starts keeps stderr open, so that is not read to its end. */
const startSession = (session_id: string) => {
  const payload = { session_id, hook_event_name: "SessionStart", source: "startup", cwd: "C:\\code" };
  const hook = wine.spawn(exe, ["hook", "claude"], { BECKON_PORT: port });
  hook.stdin.write(JSON.stringify(payload));
  hook.stdin.end();
  return hook.exited;
};
const status = async () => JSON.parse((await wine.run(exe, ["status", "--json"])).stdout);

describe("beckon on Windows", () => {
  test("is started by a session, and stays off after `beckon stop`", async () => {
    expect(await startSession("one")).toBe(0);
    await waitUntil(() => existsSync(statePath("endpoint.json")), waitMs);
    expect(await status()).toMatchObject({ sessions: [{ sessionId: "one" }] });

    const stopped = await wine.run(exe, ["stop"]);
    expect(stopped.stdout).toStartWith("beckon is stopped.");
    expect(existsSync(statePath("endpoint.json"))).toBe(false);

    expect(await startSession("two")).toBe(0);
    expect(existsSync(statePath("launching"))).toBe(false);
    expect(readFileSync(statePath("spool.jsonl"), "utf8")).toContain('"two"');
    expect((await wine.run(exe, ["stop"])).stdout).toStartWith("beckon is not running.");
  }, 60_000);
});
