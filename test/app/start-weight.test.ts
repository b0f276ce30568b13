/**
 * What a start loads stays in memory for as long as beckon runs, and grows by a little with every change. Memory itself cannot be
 * tested: it depends on the machine, and on when the last garbage collection was. What fills it can.
 */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { findFreePort } from "../bench/processes.ts";
import { testWith } from "../needs.ts";
import { binary, mainSource, repo } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";

const folder = mkdtempSync(join(tmpdir(), "beckon-weight-"));
const startMs = 20_000;

/** What was measured, and 3 % more. A change that needs more says in its commit why, and how much memory it takes. */
const maxOwnModules = 396;
const maxObjects = 60_800;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An app without agents, settings and desktop. */
async function withApp(
  command: readonly string[],
  work: (pid: number) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  const home = join(folder, crypto.randomUUID());
  mkdirSync(home);
  const app = Bun.spawn([...command], {
    env: {
      PATH: process.env.PATH ?? "",
      HOME: home,
      BECKON_HOME: home,
      BECKON_PORT: String(findFreePort()),
      ...env,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  try {
    await waitUntil(() => readdirSync(home).includes("endpoint.json"), startMs, "the app listens");
    await work(app.pid);
  } finally {
    app.kill();
    await app.exited;
  }
}

const weightFile = join(folder, "weight.json");

async function readWeight(): Promise<{ readonly modules: readonly string[]; readonly objects: number }> {
  let text = "";
  const preload = join(import.meta.dir, "../fixtures/start-weight.ts");
  await withApp(
    [process.execPath, "--preload", preload, mainSource],
    async () => {
      const isWritten = async () => {
        text = await Bun.file(weightFile)
          .text()
          .catch(() => "");
        return text.endsWith("}");
      };
      await waitUntil(isWritten, startMs, "the app has written what it has loaded");
    },
    { WEIGHT_FILE: weightFile },
  );
  return JSON.parse(text);
}

test("a start loads nothing that only some users need, and little of the rest", async () => {
  const { modules, objects } = await readWeight();
  const loaded = modules.map((path) => relative(repo, path));
  const notNeeded = [
    // While the work guard is on.
    /^src\/setup\/(?:guard-hooks|register)\.ts$/,
    // In the history's thread, once something has happened.
    /^src\/history\/(?:engine|recorder\/|queries\/)/,
    // When the user looks at the history or at their rules.
    /^src\/(?:api\/history-query|app\/(?:transcript|rule-requests))\.ts$/,
    // With a channel, a linked machine, or the page.
    /^src\/(?:channels\/sink|machines|dashboard)\b/,
    // With a desktop.
    /^src\/desktop\/(?:notify|tray\/(?:status-notifier|systray)|macos|windows)\b/,
  ];
  expect(loaded.filter((path) => notNeeded.some((pattern) => pattern.test(path)))).toEqual([]);
  const own = loaded.filter((path) => path.startsWith("src/"));
  expect(own.length).toBeLessThanOrEqual(maxOwnModules);
  expect(objects).toBeLessThanOrEqual(maxObjects);
}, 60_000);

testWith("linux")(
  "a start reads no file in another thread: the pool of threads stays, and takes 2 MB",
  async () => {
    await withApp([binary], async (pid) => {
      const tasks = `/proc/${pid}/task`;
      const names = readdirSync(tasks).map((id) => readFileSync(`${tasks}/${id}/comm`, "utf8").trim());
      expect(names.filter((name) => name.startsWith("Bun Pool"))).toEqual([]);
    });
  },
  60_000,
);
