import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { limits } from "../../src/limits.ts";
import { wholePieces } from "../../src/storage/glued.ts";
import { testWith } from "../needs.ts";
import {
  beckonHook,
  createWorld,
  environment,
  event,
  expectSilence,
  open,
  run,
  type World,
} from "./forwarder-world.ts";

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

  testWith("linux")("the disk is full: said in the log, and no failure", async () => {
    symlinkSync("/dev/full", world.inHome("spool.jsonl"));
    expectSilence(await world.forward(JSON.stringify(event)));
    expect(world.log()).toMatch(/could not write the spool \(ENOSPC.*event lost/);
  });

  testWith("linux", "root")("a disk with room for half an event, then read-only", async () => {
    const mount = (...args: string[]) => Bun.spawnSync(["mount", ...args]).exitCode;
    expect(mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", world.home)).toBe(0);
    try {
      const ran = await world.forward(JSON.stringify({ ...event, prompt: "x".repeat(200_000) }));
      expectSilence(ran);
      expect(ran.stderr).toContain("bytes fitted into the spool");
      expect(mount("-o", "remount,size=1m", world.home)).toBe(0);
      expectSilence(await world.forward(JSON.stringify(event)));
      // The stump of the first is glued to the second.
      expect(open(wholePieces(world.spool().at(-1) ?? "").at(-1)?.text).payload).toEqual(event);
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
