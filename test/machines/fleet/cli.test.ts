/** `beckon fleet` as a user types it, on two machines, with a real redis-server that wants a password. */
import { afterEach, expect } from "bun:test";
import { statSync } from "node:fs";
import { createAppFixture } from "../../app-fixture.ts";
import { testWith } from "../../needs.ts";
import { waitUntil } from "../../wait-until.ts";
import { startRedis } from "./redis-server.ts";

const password = "a password that nobody may see";
const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function openMachines() {
  const server = await startRedis(["--requirepass", password]);
  cleanUps.push(server.destroy);
  const open = (name: string) => {
    const fixture = createAppFixture();
    cleanUps.push(fixture.destroy);
    const start = (args: readonly string[], more: Record<string, string> = {}) =>
      fixture.spawnBeckon(["fleet", ...args], { BECKON_REDIS_PASSWORD: password, ...more });
    async function run(...args: string[]) {
      const child = start(args);
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { stdout, stderr, code: await child.exited };
    }
    return { name, fixture, start, run };
  };
  return { server, laptop: open("laptop"), devbox: open("devbox") };
}

const findInvitation = (text: string): string => /beckon-fleet-[\w-]+/.exec(text)?.[0] ?? "";

testWith("redis-server")(
  "a machine joins, is listed, and is removed",
  async () => {
    const { server, laptop, devbox } = await openMachines();
    const created = await laptop.run(
      "create",
      "home",
      "--url",
      server.url,
      "--as",
      "laptop",
      "--person",
      "kim",
    );
    expect(created).toMatchObject({ code: 0, stderr: "" });
    const joining = devbox.start([
      "join",
      findInvitation(created.stdout),
      "--as",
      "devbox",
      "--person",
      "kim",
    ]);
    let waiting = "";
    await waitUntil(async () => {
      waiting = (await laptop.run("approve", "--json")).stdout;
      return waiting.includes("devbox");
    }, 10_000);
    const approved = await laptop.run("approve", "--yes");
    expect(approved.stdout).toContain("devbox of kim is in the fleet.");
    const joined = await joining.stdout.text();
    const [, words] = /six words of this machine: (.*)/.exec(joined) ?? [];
    expect(words?.split(" ")).toHaveLength(6);
    expect(approved.stdout).toContain(words as string);
    expect(joined).toContain("Joined home: 2 machines.");
    for (const { run, fixture } of [laptop, devbox]) {
      const listed = (await run("list")).stdout;
      expect(listed).toContain("laptop");
      expect(listed).toContain("devbox");
      expect(listed).not.toContain(password);
      expect(statSync(fixture.paths.fleets).mode & 0o777).toBe(0o600);
    }
    expect((await laptop.run("remove", "devbox", "--yes")).code).toBe(0);
    expect((await devbox.run("rotate")).stderr).toContain("removed from the fleet");
  },
  30_000,
);

testWith("redis-server")(
  "a wrong password, a server that is away and a wrong address are said plainly",
  async () => {
    const { server, laptop } = await openMachines();
    const create = async (url: string, more: Record<string, string> = {}) =>
      (await laptop.start(["create", "home", "--url", url], more).stderr.text()).trim();
    expect(await create(server.url, { BECKON_REDIS_PASSWORD: "wrong" })).toContain(
      "the name or the password is wrong",
    );
    expect(await create("redis://127.0.0.1:1/0")).toContain("it cannot be reached");
    expect(await create("http://127.0.0.1")).toContain("is not an address of Redis");
    expect(await create("redis+sentinel://host/0")).toContain("Sentinel");
    const own = laptop.start(["create", "home", "--url", "redis://127.0.0.1:1/0", "--ca", "x"]);
    expect(await own.stderr.text()).toContain("need an address that starts with rediss://");
    server.signal("SIGSTOP");
    expect(await create(server.url)).toMatch(/it does not answer|it cannot be reached/);
  },
  60_000,
);
