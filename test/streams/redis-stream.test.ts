/** The lifecycle stream at a real redis-server: the lines of the file, in order, whatever the server does. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { openRedis } from "../../src/machines/fleet/redis.ts";
import { createRedisStream, streamKey } from "../../src/streams/redis-stream.ts";
import { schedule } from "../../src/system/schedule.ts";
import { type AppFixture, createAppFixture, createPromptEvent } from "../app-fixture.ts";
import { noCertificates, startRedis } from "../machines/fleet/redis-server.ts";
import { testWith } from "../needs.ts";
import { repo } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";

const testWithRedis = testWith("redis-server");
const password = "nobody-may-see-this";
let fixture: AppFixture;
let server: Awaited<ReturnType<typeof startRedis>> | null = null;
beforeEach(() => {
  fixture = createAppFixture();
});
afterEach(async () => {
  await fixture.destroy();
  await server?.destroy();
  server = null;
});

async function startServer() {
  server = await startRedis(["--requirepass", password]);
  return server;
}

/** The settings of a user who wants the lines in both places. */
function writeSettings(url: string, more: object = {}): void {
  const passwordFile = join(fixture.home, "redis-password");
  writeFileSync(passwordFile, `${password}\n`);
  mkdirSync(dirname(fixture.paths.config), { recursive: true });
  const stream = {
    path: join(fixture.home, "stream.jsonl"),
    url,
    urlFiles: { password: passwordFile },
    ...more,
  };
  writeFileSync(fixture.paths.config, JSON.stringify({ stream }));
}

const readFileLines = () => fixture.read(join(fixture.home, "stream.jsonl")).split("\n").filter(Boolean);

async function readServer(): Promise<{ machine: string; line: string }[]> {
  const redis = server?.open(password);
  try {
    const entries = (await redis?.send("XRANGE", [streamKey, "-", "+"])) as [string, string[]][];
    return entries.map(([, fields]) => ({ machine: fields[1] ?? "", line: fields[3] ?? "" }));
  } finally {
    redis?.close();
  }
}

async function sendPrompts(count: number): Promise<void> {
  for (let n = 0; n < count; n++)
    expect((await fixture.postHook(createPromptEvent("s1", { prompt: `prompt ${n}` }))).status).toBe(200);
}

const readServerLines = async () => (await readServer()).map(({ line }) => line);
const countInLog = (text: string) => fixture.read(fixture.paths.log).split(text).length - 1;

testWithRedis("the server gets the lines of the file", async () => {
  const { url } = await startServer();
  writeSettings(url);
  await fixture.start();
  await sendPrompts(3);
  await waitUntil(async () => (await readServer()).length === 3, 5_000);
  expect(await readServerLines()).toEqual(readFileLines());
  expect(new Set((await readServer()).map(({ machine }) => machine))).toEqual(new Set([hostname()]));
});

testWithRedis(
  "lines wait while the server is away, and follow in order",
  async () => {
    const { url, stop, start } = await startServer();
    writeSettings(url);
    await stop();
    await fixture.start();
    await sendPrompts(20);
    await waitUntil(() => countInLog("cannot be written") === 1, 5_000);
    const { problems } = (await (await fixture.request("/api/doctor")).json()) as { problems: string[] };
    expect(problems.join()).toContain(`the stream at ${new URL(url).host} cannot be written`);
    const doctor = fixture.spawnBeckon(["doctor"]);
    expect(await doctor.stdout.text()).toContain(
      `${new URL(url).host} cannot be written: it cannot be reached`,
    );
    await start();
    await waitUntil(async () => (await readServer()).length === 20, 40_000);
    expect(await readServerLines()).toEqual(readFileLines());
    expect(countInLog("cannot be written")).toBe(1);
    expect(countInLog("is written again")).toBe(1);
    expect(fixture.read(fixture.paths.log)).not.toContain(password);
  },
  60_000,
);

testWithRedis("the user of docs/streams.md may write the stream, and nothing else", async () => {
  const { url, open } = await startServer();
  const line = /ACL SETUSER ([^`]*)/.exec(readFileSync(join(repo, "docs/streams.md"), "utf8"))?.[1] ?? "";
  const admin = open(password);
  await admin.send("ACL", ["SETUSER", ...line.replace("PASSWORD", password).split(" ")]);
  admin.close();
  const ofUser = url.replace("redis://", "redis://beckon@");
  writeSettings(ofUser);
  await fixture.start();
  await sendPrompts(2);
  await waitUntil(async () => (await readServer()).length === 2, 5_000);
  const redis = openRedis({ url: ofUser, password, ...noCertificates });
  await expect(redis.send("XRANGE", [streamKey, "-", "+"])).rejects.toThrow("may not do that");
  await expect(redis.send("XADD", ["other", "*", "a", "b"])).rejects.toThrow("may not do that");
  redis.close();
});

testWithRedis("the server keeps about as many lines as the settings say", async () => {
  const { url } = await startServer();
  writeSettings(url, { path: null, maxEntries: 100 });
  await fixture.start();
  await sendPrompts(260);
  // The server removes whole nodes of a hundred entries.
  await waitUntil(async () => (await readServerLines()).at(-1)?.includes("prompt 259") === true, 10_000);
  expect((await readServer()).length).toBeLessThan(260);
});

testWithRedis("a stopped server holds up neither hooks nor the end of beckon", async () => {
  const { url, signal } = await startServer();
  writeSettings(url);
  const app = await fixture.start();
  signal("SIGSTOP");
  await sendPrompts(5);
  expect(readFileLines()).toHaveLength(5);
  await app.stop();
  signal("SIGCONT");
});

testWithRedis("a server of a planted folder gets nothing", async () => {
  const { url } = await startServer();
  writeSettings(url);
  await fixture.start({}, { isFromHook: true });
  await sendPrompts(2);
  expect(readFileLines()).toHaveLength(2);
  expect(await readServer()).toEqual([]);
});

test("a password in the address is refused, and repeated nowhere", async () => {
  writeSettings(`redis://me:${password}@127.0.0.1:1/0`);
  await fixture.start();
  const listed = await (await fixture.request("/api/sessions")).text();
  expect(listed).toContain("stream.url: has a password");
  const settings = await (await fixture.request("/api/settings")).text();
  for (const text of [listed, settings, fixture.read(fixture.paths.log)])
    expect(text).not.toContain(password);
});

test("what waits is limited: the oldest lines go, and their number is said", async () => {
  let isAway = true;
  const sent: string[] = [];
  const problems: string[] = [];
  const stream = createRedisStream({
    open: async () => ({
      async send(_, args) {
        if (isAway) throw new Error("away");
        sent.push(args.at(-1) ?? "");
      },
      close() {},
    }),
    server: "redis.example:6379",
    machine: "here",
    maxEntries: () => 100,
    schedule: (work, ms) => schedule(work, ms / 100),
    onProblem: (text) => problems.push(text),
  });
  for (let n = 0; n < 10_020; n++) stream.append(`line ${n}`);
  await waitUntil(() => problems.length === 1, 5_000);
  isAway = false;
  await waitUntil(() => sent.length === 10_000, 5_000);
  expect(sent).toEqual(Array.from({ length: 10_000 }, (_, n) => `line ${n + 20}`));
  expect(problems[1]).toContain("20 lines had to be dropped");
  await stream.stop();
});
