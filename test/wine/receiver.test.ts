/** The app and its hooks on Windows, without a desktop. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { buildBeckon, createWine, hasWine, type Wine, wineNeeds } from "./wine.ts";

const test = testWith(...wineNeeds);
const waitMs = 20_000;
let exe = "";
const port = 20_000 + Math.floor(Math.random() * 20_000);
let wine: Wine;

beforeAll(async () => {
  if (!hasWine) return;
  wine = await createWine();
  exe = buildBeckon(wine);
}, 120_000);
afterAll(() => wine?.destroy(), 30_000);

const stateFolder = () => join(wine.appData, "Local/beckon");
const read = (name: string): string => {
  const path = join(stateFolder(), name);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
};

async function startApp() {
  const before = read("endpoint.json");
  const app = wine.spawn(exe, [], { BECKON_PORT: String(port) });
  await waitUntil(() => app.exitCode !== null || (read("endpoint.json") !== before && isAnswering()), 20_000);
  return app;
}
const isAnswering = (): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/health`).then(
    (response) => response.ok,
    () => false,
  );
const hook = (sessionId: string) =>
  wine.run(
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
  const { stdout } = await wine.run(exe, ["status", "--json"]);
  const { sessions } = JSON.parse(stdout) as { sessions: { sessionId: string }[] };
  return sessions.map(({ sessionId }) => sessionId).sort();
};

describe("on Windows", () => {
  test("the binary starts", async () => {
    expect(await wine.run(exe, ["--version"])).toMatchObject({ stdout: `beckon ${version}\n`, code: 0 });
  });

  test("status says that beckon is not running", async () => {
    expect((await wine.run(exe, ["status"])).stdout).toContain("beckon is not running");
  });

  test("events are kept while the app is down, and survive a kill of the app", async () => {
    expect(await hook("before")).toEqual({ stdout: "", stderr: "", code: 0 });
    expect(read("spool.jsonl")).toContain('"before"');

    const app = await startApp();
    expect(await hook("meanwhile")).toEqual({ stdout: "", stderr: "", code: 0 });
    expect(await sessionIds()).toEqual(["before", "meanwhile"]);

    const second = await wine.run(exe, [], "", { BECKON_PORT: String(port) });
    expect(second.stderr).toContain(`beckon is already running at http://127.0.0.1:${port}`);
    expect(second.code).toBe(1);

    app.kill("SIGKILL");
    await app.exited;
    expect(await hook("between")).toMatchObject({ stdout: "", code: 0 });

    await startApp();
    expect(await sessionIds()).toEqual(["before", "between", "meanwhile"]);
  });

  test("the files are in the AppData folder", async () => {
    const names = ["auth-header", "beckon.log", "endpoint.json", "lock", "snapshot.json"];
    await waitUntil(() => names.every((name) => existsSync(join(stateFolder(), name))), waitMs);
    expect(read("auth-header")).toMatch(/^Authorization: Bearer [\w-]{43,}\n$/);
    expect(JSON.parse(read("endpoint.json")).url).toBe(`http://127.0.0.1:${port}`);
  });

  test("a session is this machine's, and its agent is found behind the shell that runs its hook", async () => {
    const [cmd = ""] = [...new Bun.Glob("/usr/lib/*/wine/x86_64-windows/cmd.exe").scanSync("/")];
    cpSync(cmd, join(wine.folder, "gemini.exe"));
    // The agent lives on, so that it does not count as gone.
    const agent = wine.spawn("gemini.exe", ["/c", `${exe} hook gemini & ping -n 60 127.0.0.1`]);
    const event = { session_id: "found", hook_event_name: "BeforeAgent", cwd: "C:\\code", prompt: "hello" };
    agent.stdin.write(JSON.stringify(event));
    agent.stdin.end();
    const readPlace = () => JSON.parse(read("snapshot.json") || "{}").sessions?.find(isFound)?.place;
    const isFound = ({ sessionId }: { sessionId: string }) => sessionId === "found";
    await waitUntil(() => readPlace()?.pid > 0, waitMs);
    expect(readPlace()).toMatchObject({ local: true });
  });

  test("a link that any web page could open changes nothing", async () => {
    const before = await sessionIds();
    expect(await wine.run(exe, ["click", `beckon:${"0".repeat(32)}`])).toMatchObject({
      stdout: "",
      code: 0,
    });
    expect((await wine.run(exe, ["click", "beckon:quit"])).code).toBe(1);
    expect(await sessionIds()).toEqual(before);
  });
});
