import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { isLoopback } from "../../src/cli/hook-target.ts";
import { createWorld, event, expectSilence, token, type World } from "./forwarder-world.ts";

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.destroy());

describe("BECKON_URL", () => {
  test("on this machine it is followed, whatever endpoint.json says", async () => {
    const { received, port } = world.receiver();
    world.announce(9);
    for (const url of [`http://127.0.0.1:${port}`, `http://localhost:${port}/`]) {
      expectSilence(await world.forward(JSON.stringify(event), { BECKON_URL: url }));
    }
    expect(received.map(({ headers }) => headers.host)).toEqual([`127.0.0.1:${port}`, `localhost:${port}`]);
  });

  test("anywhere else it is not: nothing is sent there, and beckon still gets the event", async () => {
    const elsewhere = world.receiver(200, "0.0.0.0");
    const here = world.receiver();
    for (const host of ["0.0.0.0", "127.0.0.1@0.0.0.0"]) {
      expectSilence(
        await world.forward(JSON.stringify(event), { BECKON_URL: `http://${host}:${elsewhere.port}` }),
      );
    }
    expect(elsewhere.received).toEqual([]);
    expect(here.received).toHaveLength(2);
    expect(world.log()).toContain("BECKON_URL ignored");
  });

  test("the person's own config can allow it; one that came with the project cannot", async () => {
    const elsewhere = world.receiver(200, "0.0.0.0");
    world.announce(9);
    world.write("config.json", '{"allowRemoteUrl":true}');
    const env = { BECKON_URL: `http://0.0.0.0:${elsewhere.port}` };
    expectSilence(await world.forward(JSON.stringify(event), { ...env, CLAUDE_PROJECT_DIR: world.home }));
    expectSilence(await world.forward(JSON.stringify(event), { ...env, BECKON_HOME: "." }, [], world.home));
    expect(elsewhere.received).toHaveLength(0);
    expectSilence(await world.forward(JSON.stringify(event), env));
    expect(elsewhere.received).toHaveLength(1);
    expect(elsewhere.received[0]?.headers.authorization).toBe(`Bearer ${token}`);
  });

  test("loopback is judged by the address, not by how it looks", () => {
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

  test("an endpoint.json that points elsewhere is not followed either", async () => {
    const elsewhere = world.receiver(200, "0.0.0.0");
    world.write("endpoint.json", JSON.stringify({ url: `http://0.0.0.0:${elsewhere.port}` }));
    expectSilence(await world.forward(JSON.stringify(event)));
    expect(elsewhere.received).toEqual([]);
    expect(world.spool()).toHaveLength(1);
  });
});
