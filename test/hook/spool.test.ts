import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../src/core/limits.ts";
import { timing } from "../../src/core/timing.ts";
import {
  beckonHook,
  createWorld,
  environment,
  event,
  expectSilence,
  finish,
  open,
  run,
  start,
  type World,
} from "./world.ts";

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.destroy());

describe("beckon cannot take it", () => {
  const kept = () => world.spool().map((line) => open(line).payload);

  test("it never ran here: the event waits in a spool of one's own, and that is no error", async () => {
    const home = world.inHome("a/b");
    const ran = await run(beckonHook, environment(home), JSON.stringify(event));
    expectSilence(ran);
    expect(ran.stderr).toBe("");
    expect(open(readFileSync(join(home, "spool.jsonl"), "utf8")).payload).toEqual(event);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(statSync(join(home, "spool.jsonl")).mode & 0o777).toBe(0o600);
  });

  test("it was killed and left its endpoint behind: kept at once, without an error", async () => {
    world.announce(9);
    const ran = await world.forward(JSON.stringify(event));
    expectSilence(ran);
    expect(ran.stderr).toBe("");
    expect(kept()).toEqual([event]);
  });

  test("somebody else has its old port: they get nothing", async () => {
    const { received, port } = world.receiver();
    const dead = Bun.spawn(["true"]);
    await dead.exited;
    world.announce(port, dead.pid);
    expectSilence(await world.forward(JSON.stringify(event)));
    expect(received).toEqual([]);
    expect(kept()).toEqual([event]);
  });

  test("it hangs: kept after one second", async () => {
    world.listener(() => {});
    const ran = await world.forward(JSON.stringify(event));
    expectSilence(ran);
    expect(kept()).toEqual([event]);
    expect(ran.ms).toBeWithin(timing.hookSendTimeoutMs, timing.hookSendTimeoutMs + 2_000);
    expect(world.log()).toContain(`\tPreToolUse\t${event.session_id}\tno answer within 1000 ms`);
  });

  for (const status of [503, 500, 401, 403, 404, 408, 429, 302]) {
    test(`it answers ${status}: kept`, async () => {
      world.receiver(status);
      expectSilence(await world.forward(JSON.stringify(event)));
      expect(kept()).toEqual([event]);
      expect(world.log()).toContain(`beckon answered ${status}`);
    });
  }

  for (const status of [400, 413]) {
    test(`it answers ${status}, which is about the event: logged, not kept`, async () => {
      world.receiver(status);
      expectSilence(await world.forward(JSON.stringify(event)));
      expect(world.spool()).toEqual([]);
      expect(world.log()).toContain(`refused the event (${status})`);
    });
  }

  test("the connection is torn before the answer: kept", async () => {
    world.listener((socket) => socket.terminate());
    expectSilence(await world.forward(JSON.stringify(event)));
    expect(kept()).toEqual([event]);
    expect(world.log()).toContain("connection broken");
  });

  test("what answers speaks no HTTP: kept", async () => {
    world.listener((socket) => void socket.write("220 mail.example.org ESMTP\r\n"));
    expectSilence(await world.forward(JSON.stringify(event)));
    expect(kept()).toEqual([event]);
  });

  test("newlines in the payload leave one line in the spool", async () => {
    expectSilence(await world.forward(JSON.stringify(event, null, 2).replaceAll("\n", "\r\n")));
    expect(world.spool()).toHaveLength(1);
    expect(kept()).toEqual([event]);
  });

  test("twenty at once leave twenty whole lines", async () => {
    const long = "x".repeat(200_000);
    const hooks = Array.from({ length: 20 }, (_, n) =>
      world.forward(JSON.stringify({ session_id: `s${n}`, long })),
    );
    for (const ran of await Promise.all(hooks)) expectSilence(ran);
    expect(new Set(kept().map((payload) => payload.session_id)).size).toBe(20);
    expect(new Set(world.spool().map((line) => open(line)._meta.id)).size).toBe(20);
  }, 20_000);

  test("a spool that nobody empties stops growing", async () => {
    world.write("spool.jsonl", "");
    truncateSync(world.inHome("spool.jsonl"), limits.maxSpoolBytes + 1);
    expectSilence(await world.forward(JSON.stringify(event)));
    expect(statSync(world.inHome("spool.jsonl")).size).toBe(limits.maxSpoolBytes + 1);
    expect(world.log()).toContain("spool is full");
  });

  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    test(`${signal} while it waits for the answer: kept, and a quiet end`, async () => {
      const heard = Promise.withResolvers<void>();
      world.listener(() => heard.resolve());
      const before = performance.now();
      const child = start(beckonHook, environment(world.home));
      child.stdin.write(JSON.stringify(event));
      child.stdin.end();
      await heard.promise;
      child.kill(signal);
      const ran = await finish(child, before);
      expectSilence(ran);
      expect(ran.stderr).toBe("");
      expect(kept()).toEqual([event]);
    });
  }
});
