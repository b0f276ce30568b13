/** Servers of every kind: with TLS, with a user of few rights, a cluster, a Sentinel. Each is a real redis-server. */
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRedisUrl } from "../../../src/core/config/redis-url.ts";
import {
  askToJoin,
  createFleet,
  inviteMachine,
  leaveFleet,
  listWaiting,
  readWelcome,
  removeMember,
  rotateKey,
  welcome,
} from "../../../src/machines/fleet/membership.ts";
import { createPlaces } from "../../../src/machines/fleet/places.ts";
import { openRedis, type Redis, RedisProblem } from "../../../src/machines/fleet/redis.ts";
import { testWith } from "../../needs.ts";
import { repo } from "../../repo.ts";
import { waitUntil } from "../../wait-until.ts";
import { noCertificates, startRedis } from "./redis-server.ts";

const readSource = (path: string): string => readFileSync(join(repo, path), "utf8");
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function startServer(args: readonly string[] = []) {
  const server = await startRedis(args);
  cleanUps.push(server.destroy);
  return server;
}

function open(address: Partial<Parameters<typeof openRedis>[0]> & { url: string }): Redis {
  const redis = openRedis({ password: null, ...noCertificates, ...address });
  cleanUps.push(() => redis.close());
  return redis;
}

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "beckon-kinds-"));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const settings = {
  ...noCertificates,
  password: null,
  kind: "personal",
  share: "full",
  answers: true,
} as const;

/** Everything that `beckon fleet` does at a server. */
async function runThroughMembership(redis: Redis, url: string): Promise<void> {
  const now = Date.now();
  const own = { name: "laptop", person: "kim" };
  const fleet = await createFleet(redis, own, { ...settings, url });
  await inviteMachine(redis, fleet, "home", now - 3_600_000);
  const invitation = await inviteMachine(redis, fleet, "home", now);
  const joining = await askToJoin(redis, invitation, { name: "devbox", person: "kim" }, now);
  const [waiting] = await listWaiting(redis, fleet, now);
  if (!waiting) throw new Error("nobody waits");
  const two = await welcome(redis, fleet, waiting);
  const joined = await readWelcome(redis, invitation, joining, settings);
  if (!joined) throw new Error("no welcome came");
  await leaveFleet(redis, joined);
  await rotateKey(redis, two);
  await removeMember(redis, two, joined.machine);
}

const script = `
set -e
create() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout $1.key -out $1.crt -subj /CN=$1; }
create ca; create other-ca
for name in server client; do
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout $name.key -out $name.csr -subj /CN=$name
  printf 'subjectAltName=IP:127.0.0.1' > names
  openssl x509 -req -in $name.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out $name.crt
done`;

testWith("redis-server", "openssl")(
  "rediss:// with an authority of one's own and a certificate of this machine",
  async () => {
    const folder = createFolder();
    const made = Bun.spawn(["sh", "-c", script], { cwd: folder, stdout: "ignore", stderr: "pipe" });
    expect(await made.exited, await made.stderr.text()).toBe(0);
    const path = (name: string) => join(folder, name);
    const read = (name: string) => readFileSync(path(name), "utf8");
    const port = 10_000 + Math.floor(Math.random() * 9_000);
    await startServer([
      ...[
        "--tls-port",
        String(port),
        "--tls-cert-file",
        path("server.crt"),
        "--tls-key-file",
        path("server.key"),
      ],
      ...["--tls-ca-cert-file", path("ca.crt"), "--bind", "127.0.0.1", "127.0.0.2"],
    ]);
    const url = `rediss://127.0.0.1:${port}/0`;
    const own = { certificate: read("client.crt"), key: read("client.key") };
    const good = open({ url, ca: read("ca.crt"), ...own });
    await runThroughMembership(good, url);
    const fail = (address: Parameters<typeof open>[0]) =>
      open(address)
        .send("PING", [])
        .then(String, (error) => error.message);
    expect(await fail({ url, ...own })).toBe("its certificate is not trusted");
    expect(await fail({ url, ca: read("other-ca.crt"), ...own })).toBe("its certificate is not trusted");
    expect(await fail({ url, ca: read("ca.crt") })).toBe(
      "it wants a certificate of this machine that it trusts",
    );
    expect(await fail({ url: url.replace("127.0.0.1", "127.0.0.2"), ca: read("ca.crt"), ...own })).toBe(
      "its certificate is for another name",
    );
  },
  20_000,
);

/** The line of docs/fleet.md, without the command itself. */
const readAclLine = (): string[] =>
  (/ACL SETUSER (.*)/.exec(readSource("docs/fleet.md"))?.[1] ?? "").trim().split(" ");

testWith("redis-server")(
  "the user of docs/fleet.md may do what a fleet needs, and nothing else",
  async () => {
    const server = await startServer();
    const [name = "", ...rules] = readAclLine().map((word) => word.replace(/^>.*/, ">secret"));
    const admin = server.open();
    cleanUps.push(() => admin.close());
    expect(await admin.send("ACL", ["SETUSER", name, ...rules])).toBe("OK");
    const url = server.url.replace("redis://", `redis://${name}@`);
    const redis = open({ url, password: "secret" });
    await runThroughMembership(redis, url);
    await admin.send("SET", ["other", "1"]);
    for (const [command, ...args] of [
      ["GET", "other"],
      ["SET", "other", "2"],
      ["KEYS", "*"],
      ["FLUSHALL"],
      ["CONFIG", "GET", "*"],
      ["ACL", "LIST"],
      ["EVAL", "return 1", "0"],
      ["SUBSCRIBE", "x"],
    ])
      await expect(redis.send(command ?? "", args), command).rejects.toThrow("may not do that");
  },
);

test("every command that a fleet sends is in the line of docs/fleet.md, and no other", () => {
  const sources = new Bun.Glob("src/machines/fleet/*.ts").scanSync({ cwd: repo });
  const sent = [...sources].flatMap((path) =>
    [...readSource(path).matchAll(/\bsend\(\s*"([A-Z]+)"/g)].map(([, command = ""]) => command.toLowerCase()),
  );
  const allowed = readAclLine().flatMap((word) => (/^\+[a-z]+$/.test(word) ? [word.slice(1)] : []));
  expect([...new Set(sent)].sort()).toEqual(allowed.sort());
});

testWith("redis-server")(
  "a cluster keeps a fleet together, and its other node is found",
  async () => {
    const nodes = await Promise.all(
      ["0 8191", "8192 16383"].map(async (slots) => {
        const busPort = String(10_000 + Math.floor(Math.random() * 9_000));
        const server = await startServer(["--cluster-enabled", "yes", "--cluster-port", busPort]);
        const redis = server.open();
        cleanUps.push(() => redis.close());
        await redis.send("CLUSTER", ["ADDSLOTSRANGE", ...slots.split(" ")]);
        return { ...server, redis, busPort };
      }),
    );
    const [first, second] = nodes;
    if (!first || !second) throw new Error("there are two");
    await first.redis.send("CLUSTER", ["MEET", "127.0.0.1", String(second.port), second.busPort]);
    await waitUntil(
      async () =>
        (await Promise.all(nodes.map(({ redis }) => redis.send("CLUSTER", ["INFO"])))).every((info) =>
          String(info).includes("cluster_state:ok"),
        ),
      15_000,
    );
    const findSlots = async (fleet: string) => {
      const keys = Object.values(createPlaces(fleet)).flatMap((place): string[] => {
        const named = typeof place === "function" ? place("x") : place;
        return typeof named === "string" ? [named] : Object.values(named);
      });
      return new Set(await Promise.all(keys.map((key) => first.redis.send("CLUSTER", ["KEYSLOT", key]))));
    };
    for (const fleet of ["a", "b", "c", "d", "e", "f"]) {
      const slots = await findSlots(fleet);
      expect(slots.size).toBe(1);
      await first.redis.send("HSET", [createPlaces(fleet).members, "1", fleet]);
      expect(await second.redis.send("HGET", [createPlaces(fleet).members, "1"])).toBe(fleet);
    }
    const both = await Promise.all(nodes.map(({ redis }) => redis.send("PING", [])));
    expect(both).toEqual(["PONG", "PONG"]);
    await runThroughMembership(first.redis, first.url);
  },
  30_000,
);

testWith("redis-server")("a Sentinel is named as one, and so is an address of one", async () => {
  const folder = createFolder();
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const file = join(folder, "sentinel.conf");
  writeFileSync(file, `port ${port}\nbind 127.0.0.1\ndir ${folder}\nsentinel monitor main 127.0.0.1 1 1\n`);
  const sentinel = Bun.spawn(["redis-server", file, "--sentinel"], { stdout: "ignore", stderr: "ignore" });
  cleanUps.push(async () => {
    sentinel.kill("SIGKILL");
    await sentinel.exited;
  });
  const url = `redis://127.0.0.1:${port}/0`;
  const ask = () =>
    open({ url })
      .send("HGET", ["a", "b"])
      .then(null, (error: unknown) => error);
  await waitUntil(async () => !/reached/.test(String(await ask())), 5_000);
  const problem = await ask();
  expect(problem).toBeInstanceOf(RedisProblem);
  expect(String(problem)).toContain("it is a Sentinel");
  for (const address of ["redis+sentinel://a:26379/0", "redis-cluster://a", "redis://a:1,b:2/0"])
    expect(readRedisUrl(address)).toContain("Sentinel and Cluster addresses cannot be used");
});
