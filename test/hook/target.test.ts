import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openRequest } from "../../src/hook/http.ts";
import { chooseTarget, isLoopback } from "../../src/hook/target.ts";
import { resolvePaths } from "../../src/storage/paths.ts";
import { readEndpoint, writeEndpoint } from "../../src/system/endpoint.ts";
import { parseUserHome } from "../../src/system/user-home.ts";
import { forEachTest } from "../for-each-test.ts";
import { testWith } from "../needs.ts";
import { createHarness, environment, event, expectNoOutput, run, token } from "./harness.ts";

const harness = forEachTest(createHarness);

describe("BECKON_URL", () => {
  test("is followed on this machine, whatever endpoint.json says", async () => {
    const { received, port } = harness.receiver();
    harness.announce(9);
    for (const url of [`http://127.0.0.1:${port}`, `http://localhost:${port}/`]) {
      expectNoOutput(await harness.forward(JSON.stringify(event), { BECKON_URL: url }));
    }
    expect(received.map(({ headers }) => headers.host)).toEqual([`127.0.0.1:${port}`, `localhost:${port}`]);
  });

  test("is not followed anywhere else: nothing is sent there, and beckon still gets the event", async () => {
    const elsewhere = harness.receiver(200, "0.0.0.0");
    const here = harness.receiver();
    for (const host of ["0.0.0.0", "127.0.0.1@0.0.0.0"]) {
      expectNoOutput(
        await harness.forward(JSON.stringify(event), { BECKON_URL: `http://${host}:${elsewhere.port}` }),
      );
    }
    expect(elsewhere.received).toEqual([]);
    expect(here.received).toHaveLength(2);
    expect(harness.log()).toContain("BECKON_URL ignored");
  });

  test("is followed to another machine if the user's own config allows it", async () => {
    const elsewhere = harness.receiver(200, "0.0.0.0");
    harness.write("own.json", '{"allowRemoteUrl":true}');
    const env = { BECKON_URL: `http://0.0.0.0:${elsewhere.port}`, BECKON_HOME: harness.home };
    const own = async () => harness.inHome("own.json");
    const target = await chooseTarget(env, resolvePaths(env), [], Promise.resolve({ boot: null }), own);
    if (target === null) throw new Error("not followed");
    expect(await openRequest(target, "/api/hook", "{}").status).toBe(200);
    expect(JSON.stringify(elsewhere.received)).not.toContain(token);
  });

  test("a config file that a variable points to cannot allow it", async () => {
    const elsewhere = harness.receiver(200, "0.0.0.0");
    harness.announce(9);
    const evil = harness.inHome("evil");
    for (const folder of [".", ".config/beckon", "beckon", "Library/Application Support/beckon"]) {
      mkdirSync(join(evil, folder), { recursive: true });
      writeFileSync(join(evil, folder, "config.json"), '{"allowRemoteUrl":true}');
    }
    const url = `http://0.0.0.0:${elsewhere.port}`;
    for (const places of [
      { BECKON_HOME: evil },
      { BECKON_HOME: "", HOME: evil },
      { BECKON_HOME: "", XDG_CONFIG_HOME: evil, APPDATA: evil },
    ]) {
      const result = await harness.forward(JSON.stringify(event), { BECKON_URL: url, ...places });
      expectNoOutput(result);
      expect(result.stderr).toContain("BECKON_URL ignored");
      expect(result.stderr).not.toContain(`${evil}/.config`);
    }
    expect(elsewhere.received).toEqual([]);
  });

  testWith("getent")("the home folder comes from the user database, whatever HOME says", async () => {
    const line = Bun.spawnSync(["getent", "passwd", String(process.getuid?.())]).stdout.toString();
    const program = join(import.meta.dir, "../fixtures/user-home-program.ts");
    const result = await run([process.execPath, program], environment(harness.home), "");
    expect(result.stdout.trim()).toBe(line.split(":")[5] ?? "");
  });

  test("a line of the user database is found by its user id", () => {
    const text =
      "x:1000:0:0::/wrong:\nann:*:1000:20::0:0:Ann:/Users/ann:/bin/zsh\nbob:x:7:7::relative:/bin/sh\n";
    expect(parseUserHome(text, 1000, 8)).toBe("/Users/ann");
    expect(parseUserHome(text, 7, 5)).toBeNull();
    expect(parseUserHome(text, 8, 5)).toBeNull();
  });

  test("only real loopback addresses count as loopback", () => {
    const judged = (text: string) => isLoopback(new URL(text));
    for (const yes of [
      "http://127.0.0.1:1",
      "http://127.9.8.7",
      "http://localhost:4488",
      "http://[::1]:1",
      "http://0x7f.1",
    ]) {
      expect([yes, judged(yes)]).toEqual([yes, true]);
    }
    for (const no of [
      "http://127.0.0.1.evil.org",
      "http://localhost.evil.org",
      "http://127.0.0.1@evil.org",
      "http://evil.org/127.0.0.1",
      "http://0.0.0.0",
      "http://[::ffff:10.0.0.1]",
      "https://127.0.0.1",
      "ftp://127.0.0.1",
      "file:///127.0.0.1",
    ]) {
      expect([no, judged(no)]).toEqual([no, false]);
    }
  });

  test("an endpoint.json that points to another machine is not followed", async () => {
    const elsewhere = harness.receiver(200, "0.0.0.0");
    harness.write("endpoint.json", JSON.stringify({ url: `http://0.0.0.0:${elsewhere.port}` }));
    expectNoOutput(await harness.forward(JSON.stringify(event)));
    expect(elsewhere.received).toEqual([]);
    expect(harness.spool()).toHaveLength(1);
  });
});

describe("endpoint.json", () => {
  const places = () => resolvePaths({ BECKON_HOME: harness.home });

  test("is followed as beckon writes it", async () => {
    const { received, port } = harness.receiver();
    const endpoint = { url: `http://127.0.0.1:${port}`, pid: process.pid };
    writeEndpoint(places(), { ...endpoint, key: "k" });
    expectNoOutput(await harness.forward(JSON.stringify(event)));
    expect(received).toHaveLength(1);
    expect(readEndpoint(places())).toEqual(endpoint);
  });

  testWith("linux")("has the start time of the process and the boot id", async () => {
    writeEndpoint(places(), { url: "http://127.0.0.1:1", pid: process.pid, key: "k" });
    const stat = readFileSync("/proc/self/stat", "utf8");
    expect(JSON.parse(readFileSync(places().endpoint, "utf8"))).toEqual({
      url: "http://127.0.0.1:1",
      pid: process.pid,
      start: stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19],
      boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
      key: "k",
    });
  });

  for (const [what, pid, more] of [
    ["the pid of another process", process.pid, { start: "1" }],
    ["from before the last boot", process.pid, { boot: "another" }],
    ["without a pid", undefined, {}],
    ["pid 0, which every signal reaches", 0, {}],
    ["a negative pid, which means a group", -1, {}],
    ["a fraction as pid", process.pid + 0.5, {}],
    ["a string as pid", String(process.pid), {}],
  ] as const) {
    testWith("linux")(
      `${what}: not followed, and the process that has the port receives nothing`,
      async () => {
        const { received, port } = harness.receiver();
        harness.announce(port, pid, { pid, ...more });
        expectNoOutput(await harness.forward(JSON.stringify(event)));
        expect(received).toEqual([]);
        expect(harness.spool()).toHaveLength(1);
        expect(readEndpoint(places())).toBeNull();
      },
    );
  }
});
