/** The Windows build, run: what the app and its hooks do without a desktop. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { testWith } from "../needs.ts";
import { until } from "../world.ts";
import { buildBeckon, createWineWorld, hasWine, type WineWorld, wineNeeds } from "./world.ts";

const test = testWith(...wineNeeds);
let exe = "";
const port = 20_000 + Math.floor(Math.random() * 20_000);
let world: WineWorld;

beforeAll(async () => {
  if (!hasWine) return;
  world = await createWineWorld();
  exe = buildBeckon(world);
}, 120_000);
afterAll(() => world?.destroy(), 30_000);

const stateFolder = () => join(world.appData, "Local/beckon");
const read = (name: string): string => {
  const path = join(stateFolder(), name);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
};

async function startApp() {
  const before = read("endpoint.json");
  const app = world.spawn(exe, [], { BECKON_PORT: String(port) });
  await until(() => app.exitCode !== null || (read("endpoint.json") !== before && isAnswering()), 20_000);
  return app;
}
const isAnswering = (): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/health`).then(
    (response) => response.ok,
    () => false,
  );
const hook = (sessionId: string) =>
  world.run(
    exe,
    ["hook", "claude"],
    JSON.stringify({
      session_id: sessionId,
      hook_event_name: "UserPromptSubmit",
      cwd: "C:\\code\\shop",
      prompt: "hello",
    }),
  );
const sessionIds = async (): Promise<string[]> => {
  const { stdout } = await world.run(exe, ["status", "--json"]);
  const { sessions } = JSON.parse(stdout) as { sessions: { sessionId: string }[] };
  return sessions.map(({ sessionId }) => sessionId).sort();
};

describe("on Windows", () => {
  test("the binary starts", async () => {
    expect(await world.run(exe, ["--version"])).toMatchObject({ stdout: `beckon ${version}\n`, code: 0 });
  });

  test("a person who has not started it is told how to", async () => {
    expect((await world.run(exe, ["status"])).stdout).toContain("beckon is not running");
  });

  test("a hook without an app keeps its event, the app takes it, and forgets nothing when it is killed", async () => {
    expect(await hook("before")).toEqual({ stdout: "", stderr: "", code: 0 });
    expect(read("spool.jsonl")).toContain('"before"');

    const app = await startApp();
    expect(await hook("meanwhile")).toEqual({ stdout: "", stderr: "", code: 0 });
    expect(await sessionIds()).toEqual(["before", "meanwhile"]);

    const second = await world.run(exe, [], "", { BECKON_PORT: String(port) });
    expect(second.stderr).toContain(`beckon is already running at http://127.0.0.1:${port}`);
    expect(second.code).toBe(1);

    app.kill("SIGKILL");
    await app.exited;
    expect(await hook("between")).toMatchObject({ stdout: "", code: 0 });

    await startApp();
    expect(await sessionIds()).toEqual(["before", "between", "meanwhile"]);
  });

  test("its files lie where Windows wants them", async () => {
    const names = ["auth-header", "beckon.log", "endpoint.json", "lock", "snapshot.json"];
    await until(() => names.every((name) => existsSync(join(stateFolder(), name))), 5_000);
    expect(read("auth-header")).toMatch(/^Authorization: Bearer [\w-]{43,}\n$/);
    expect(JSON.parse(read("endpoint.json")).url).toBe(`http://127.0.0.1:${port}`);
  });

  test("a link that any page could open is handed over, and changes nothing", async () => {
    const before = await sessionIds();
    expect(await world.run(exe, ["click", `beckon:${"0".repeat(32)}`])).toMatchObject({
      stdout: "",
      code: 0,
    });
    expect((await world.run(exe, ["click", "beckon:quit"])).code).toBe(1);
    expect(await sessionIds()).toEqual(before);
  });
});
