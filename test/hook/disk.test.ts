import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chownSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { limits } from "../../src/core/limits.ts";
import { timing } from "../../src/core/timing.ts";
import { splitGluedLines } from "../../src/storage/spool.ts";
import { testWith } from "../needs.ts";
import {
  beckonHook,
  createWorld,
  environment,
  event,
  expectSilence,
  oddities,
  open,
  run,
  type World,
} from "./world.ts";

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.destroy());

describe("the disk does not play along", () => {
  test("the folder cannot be made: said on stderr, and no failure", async () => {
    world.write("file", "");
    const ran = await run(beckonHook, environment(world.inHome("file/home")), JSON.stringify(event));
    expectSilence(ran);
    expect(ran.stderr).toContain("could not write the spool");
  });

  testWith("linux", "root")("a disk with room for half an event, then read-only", async () => {
    const mount = (...args: string[]) => Bun.spawnSync(["mount", ...args]).exitCode;
    expect(mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", world.home)).toBe(0);
    try {
      const ran = await world.forward(JSON.stringify({ ...event, prompt: "x".repeat(200_000) }));
      expectSilence(ran);
      expect(ran.stderr).toContain("bytes fitted into the spool");
      const onFull = await world.forward(JSON.stringify(event));
      expectSilence(onFull);
      expect(onFull.stderr).toMatch(/could not write the spool \(ENOSPC.*event lost/);
      expect(mount("-o", "remount,size=1m", world.home)).toBe(0);
      expectSilence(await world.forward(JSON.stringify(event)));
      // The stump of the first is glued to the second.
      expect(open(splitGluedLines(world.spool().at(-1) ?? "").at(-1)?.text).payload).toEqual(event);
      expect(mount("-o", "remount,ro", world.home)).toBe(0);
      const onReadOnly = await world.forward(JSON.stringify(event));
      expectSilence(onReadOnly);
      expect(onReadOnly.stderr).toContain("EROFS");
    } finally {
      Bun.spawnSync(["umount", world.home]);
    }
  });

  test("the log keeps its newer half", async () => {
    world.write("hook.log", `${"old line\n".repeat(40_000)}newer line\n`);
    await world.forward("no JSON");
    expect(world.log().length).toBeWithin(limits.maxHookLogBytes / 2, limits.maxHookLogBytes);
    expect(world.log()).toStartWith("old line\n");
    expect(world.log()).toMatch(/newer line\n[^\n]+stdin is not a JSON object[^\n]+\n$/);
  });
});

describe("something else lies where a file should be", () => {
  const maxMs = timing.hookTotalTimeoutMs + 600;

  for (const [what, put] of Object.entries(oddities)) {
    for (const name of ["endpoint.json", "auth-header"]) {
      testWith("linux")(`${what} as ${name}: kept, without a wait`, async () => {
        world.listener((socket) => void socket.write("HTTP/1.1 401 Unauthorized\r\n\r\n"));
        rmSync(world.inHome(name));
        put(world.inHome(name));
        const ran = await world.forward(JSON.stringify(event));
        expectSilence(ran);
        expect(ran.ms).toBeLessThan(maxMs);
        expect(world.spool()).toHaveLength(1);
      });
    }

    testWith("linux")(`${what} as spool.jsonl and hook.log: said on stderr, without a wait`, async () => {
      put(world.inHome("spool.jsonl"));
      put(world.inHome("hook.log"));
      const ran = await world.forward(JSON.stringify(event));
      expectSilence(ran);
      expect(ran.ms).toBeLessThan(maxMs);
      expect(ran.stderr).toMatch(/could not write the spool|spool is full/);
      // Of a log that long, only the new line is left.
      if (what.startsWith("a hole")) expect(world.log()).toMatch(/^\d[^\n]+spool is full[^\n]+\n$/);
    });
  }

  test("a disk that answers late does not hold the agent up: the event is kept", async () => {
    const source = `
      const file = Bun.file;
      Bun.file = (path) => String(path).endsWith("endpoint.json")
        ? { stat: () => new Promise(() => {}) } : file(path);
      await import("${beckonHook[1]}");`;
    const ran = await run([process.execPath, "-e", source], environment(world.home), JSON.stringify(event));
    expectSilence(ran);
    expect(ran.ms).toBeWithin(timing.hookTotalTimeoutMs - 50, maxMs);
    expect(ran.stderr).toContain(`not done ${timing.hookTotalTimeoutMs} ms after the event was read`);
    expect(world.spool()).toHaveLength(1);
  });

  test("nothing is written through a link", async () => {
    world.write("precious", "mine\n");
    symlinkSync(world.inHome("precious"), world.inHome("spool.jsonl"));
    symlinkSync(world.inHome("precious"), world.inHome("hook.log"));
    const ran = await world.forward(JSON.stringify(event));
    expectSilence(ran);
    expect(ran.stderr).toContain("could not write the spool");
    expect(readFileSync(world.inHome("precious"), "utf8")).toBe("mine\n");
  });

  testWith("linux", "root")("nothing is written into another user's folder, or file", async () => {
    chownSync(world.home, 65_534, 65_534);
    const inFolder = await world.forward(JSON.stringify(event));
    expectSilence(inFolder);
    expect(inFolder.stderr).toContain(`${world.home} belongs to user 65534`);
    expect(readdirSync(world.home)).toEqual([]);
    chownSync(world.home, 0, 0);
    world.write("spool.jsonl", "");
    chownSync(world.inHome("spool.jsonl"), 65_534, 65_534);
    expectSilence(await world.forward(JSON.stringify(event)));
    expect(world.spool()).toEqual([]);
    expect(world.log()).toContain("spool.jsonl belongs to user 65534");
  });

  test("what a terminal would obey is made visible in the log", async () => {
    world.receiver(503);
    const session_id = "s\u001b[31m\u009b2J\u0085\t\u007f";
    const ran = await world.forward(JSON.stringify({ ...event, session_id }));
    expectSilence(ran);
    expect(world.log()).toContain("\ts\\u001b[31m\\u009b2J\\u0085\\t\\u007f\tbeckon answered 503");
  });
});
