/** The setting `updates`: whether the app asks for newer versions, and who is told. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { version } from "../../package.json";
import { dayMs } from "../../src/core/timing.ts";
import { formatManifest } from "../../src/release/manifest.ts";
import { loadJsonState } from "../../src/storage/json-state.ts";
import { startUpdateCheck, type UpdateCheck } from "../../src/update/check.ts";
import { createAppFixture } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);
let server: ReturnType<typeof Bun.serve>;
let requests: string[] = [];
let newest = "9.9.9";
const url = () => `http://127.0.0.1:${server.port}`;

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      requests.push(new URL(request.url).pathname);
      return newest === ""
        ? new Response("", { status: 500 })
        : new Response(formatManifest({ version: newest, bun: "", commit: "", files: [] }));
    },
  });
});
afterAll(() => server.stop(true));
beforeEach(() => {
  requests = [];
  newest = "9.9.9";
});

const startApp = (updates: "off" | "tell") => {
  mkdirSync(fixture.paths.state, { mode: 0o700, recursive: true });
  writeFileSync(fixture.paths.config, JSON.stringify({ updates }));
  return fixture.startProcess({ BECKON_DOWNLOAD_URL: url() });
};
async function findNewer() {
  const child = fixture.spawnBeckon(["doctor", "--json"]);
  const { findings } = JSON.parse(await child.stdout.text());
  return findings.find(({ id }: { id: string }) => id === "app.newer");
}

test("with tell, the app asks once, and doctor tells the newer version with the command", async () => {
  await startApp("tell");
  await waitUntil(() => existsSync(fixture.paths.updateCheck), 10_000);
  expect(requests).toEqual(["/manifest.json"]);
  expect(await findNewer()).toMatchObject({
    state: "info",
    text: "beckon 9.9.9 is available",
    fix: "Run: beckon update",
  });
  // Also over a restart: it was asked today.
  await fixture.spawnBeckon(["restart"], { BECKON_DOWNLOAD_URL: url() }).exited;
  await fixture.spawnBeckon(["stop"]).exited;
  expect(requests).toHaveLength(1);
}, 30_000);

test("with off, which is the default, nobody is asked", async () => {
  await startApp("off");
  await letTimePass(500, "a request that is not sent cannot be waited for");
  expect(requests).toEqual([]);
  expect(existsSync(fixture.paths.updateCheck)).toBe(false);
  writeFileSync(fixture.paths.config, JSON.stringify({ updates: "tell" }));
  await waitUntil(() => requests.length > 0, 10_000);
}, 30_000);

test("it is asked once a day, also after a failure, and what was known stays", async () => {
  let at = 1_000 * dayMs;
  let next: { work: () => void; ms: number } | null = null;
  let saved: Readonly<Record<string, unknown>> = {};
  const start = (): UpdateCheck =>
    startUpdateCheck({
      ownVersion: version,
      releases: { newest: url(), folderOf: url },
      now: () => at,
      schedule(work, ms) {
        next = { work, ms };
        return () => {
          next = null;
        };
      },
      saved,
      save: (value) => {
        saved = value;
      },
      onChange: () => {},
      onProblem: () => {},
    });
  const check = start();
  await waitUntil(() => next !== null, 5_000);
  expect(next as unknown).toMatchObject({ ms: dayMs });
  expect(check.newer()).toEqual({ text: "beckon 9.9.9 is available", fix: "beckon update" });
  newest = "";
  at += dayMs;
  const { work } = next as unknown as { work: () => void };
  next = null;
  work();
  await waitUntil(() => next !== null, 5_000);
  expect(requests).toHaveLength(2);
  expect(check.newer()).not.toBeNull();
  expect(saved).toEqual({ checkedAt: at, version: "9.9.9" });
  check.stop();
  expect(next).toBeNull();
  at += dayMs / 2;
  start().stop();
  expect(requests).toHaveLength(2);
  expect(loadJsonState(fixture.paths.updateCheck).value).toEqual({});
});
