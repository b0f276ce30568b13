import { afterAll, expect, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { openSpool } from "../../src/storage/spool.ts";
import { removeTemporaryFolders } from "./folder.ts";
import { event, spoolWorld } from "./spool-fixture.ts";

afterAll(removeTemporaryFolders);

const lines = (...ids: (string | number)[]): string => ids.map((id) => `${event(id)}\n`).join("");

test("events are taken in order, word for word, and the file is gone soon after", async () => {
  const world = spoolWorld();
  writeFileSync(world.path, lines("ü", 2, 3));
  const spool = world.open();
  expect(await spool.poll()).toBe(3);
  expect(world.taken).toEqual([event("ü"), event(2), event(3)]);
  expect(existsSync(world.path)).toBe(false);
  await Bun.sleep(60);
  expect(await spool.poll()).toBe(0);
  expect(existsSync(world.putAway)).toBe(false);
  expect(spool.position()).toBeNull();
  expect(world.errors).toEqual([]);
});

test("with no spool at all there is nothing to do", async () => {
  const world = spoolWorld();
  const spool = world.open();
  expect(await spool.poll()).toBe(0);
  expect([world.errors, spool.position()]).toEqual([[], null]);
});

test("a line is taken within a second without anyone asking", async () => {
  const world = spoolWorld();
  const took = Promise.withResolvers<string>();
  const spool = openSpool(world.path, {
    position: null,
    maxLineBytes: 1_000,
    onError: () => {},
    accept: async (text) => {
      took.resolve(text);
      return "accepted";
    },
  });
  await Bun.sleep(20);
  const start = performance.now();
  appendFileSync(world.path, lines(1));
  expect(await took.promise).toBe(event(1));
  expect(performance.now() - start).toBeLessThan(1_000);
  await spool.stop();
});

test("a line that is still being written is left until it is whole", async () => {
  const world = spoolWorld();
  const spool = world.open({ quietMs: 10_000 });
  const text = lines(1, "zwei ☂");
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at++) {
    appendFileSync(world.path, bytes.subarray(at, at + 1));
    await spool.poll();
    expect(world.taken).toHaveLength(at < bytes.indexOf(10) ? 0 : at < bytes.length - 1 ? 1 : 2);
    if (existsSync(world.putAway)) renameSync(world.putAway, world.path);
  }
  expect(world.ids()).toEqual([1, "zwei ☂"]);
  expect(world.errors).toEqual([]);
});

test("a broken line in the middle is skipped and the log says where; empty ones are nothing", async () => {
  const world = spoolWorld();
  writeFileSync(world.path, `${lines(1)}{"provider":"claude","pay\n\n  \r\n${lines(2)}`);
  expect(await world.open().poll()).toBe(2);
  expect(world.ids()).toEqual([1, 2]);
  const at = lines(1).length;
  expect(world.errors).toEqual([`spool.jsonl: the line at byte ${at} is damaged (26 bytes), skipped`]);
});

test("an event glued to the stump of a writer that died is recovered", async () => {
  const world = spoolWorld();
  const stump = event("dead ☂").slice(0, -7);
  writeFileSync(world.path, `${lines(1)}${stump}${lines(2)}${lines(3)}`);
  await world.open().poll();
  expect(world.ids()).toEqual([1, 2, 3]);
  expect(world.errors).toEqual([
    expect.stringContaining(
      `at byte ${lines(1).length} is damaged (${Buffer.byteLength(stump + lines(2))} bytes)`,
    ),
  ]);
});

test("two events that only lack the newline between them are both taken, each with its own place", async () => {
  const world = spoolWorld();
  writeFileSync(world.path, event("ä") + lines("b"));
  const ends: number[] = [];
  await world
    .open({
      accept: async (text, [, end]) => {
        world.taken.push(text);
        ends.push(end);
        return "accepted";
      },
    })
    .poll();
  expect(world.ids()).toEqual(["ä", "b"]);
  expect(ends).toEqual([Buffer.byteLength(event("ä")), Buffer.byteLength(event("ä") + lines("b"))]);
});

test("while an event cannot be kept nothing after it is taken, and it comes first the next time", async () => {
  const world = spoolWorld();
  writeFileSync(world.path, lines(1, 2, 3));
  let full = true;
  const spool = world.open({
    accept: async (text, next) => {
      if (full && text === event(2)) return "retry";
      world.taken.push(text);
      world.position = next;
      return "accepted";
    },
  });
  expect(await spool.poll()).toBe(1);
  expect(spool.position()?.[1]).toBe(lines(1).length);
  await Bun.sleep(60);
  expect(await spool.poll()).toBe(0);
  expect(existsSync(world.path)).toBe(true);
  full = false;
  appendFileSync(world.path, lines(4));
  expect(await spool.poll()).toBe(3);
  expect(world.ids()).toEqual([1, 2, 3, 4]);
});

test("a take that fails is told and tried again", async () => {
  const world = spoolWorld();
  writeFileSync(world.path, lines(1));
  let broken = true;
  const spool = world.open({
    accept: async (text) => {
      if (broken) throw new Error("oops");
      world.taken.push(text);
      return "accepted";
    },
  });
  await spool.poll();
  expect(world.errors).toEqual([expect.stringContaining("oops")]);
  broken = false;
  expect(await spool.poll()).toBe(1);
});

test("a refused event is passed", async () => {
  const world = spoolWorld();
  writeFileSync(world.path, lines(1, 2));
  const seen: string[] = [];
  const spool = world.open({ accept: async (text) => (seen.push(text) === 1 ? "rejected" : "accepted") });
  expect(await spool.poll()).toBe(1);
  expect(seen).toEqual([event(1), event(2)]);
});

test("a position that makes no sense counts as none", async () => {
  for (const position of [{}, ["x"], [1, 2], ["x", "y"], ["a b@c", 5], "text"]) {
    const world = spoolWorld();
    writeFileSync(world.path, lines(1));
    await world.open({ position: position as never }).poll();
    expect(world.ids()).toEqual([1]);
  }
});

test("a line longer than allowed is skipped, told, and not held in memory", async () => {
  const world = spoolWorld();
  writeFileSync(world.path, lines(1));
  const piece = Buffer.alloc(4 * 1024 * 1024, 120);
  for (let n = 0; n < 16; n++) appendFileSync(world.path, piece);
  appendFileSync(world.path, `\n${lines(2)}`);
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  await world.open().poll();
  expect(process.memoryUsage.rss() - before).toBeLessThan(32 * 1024 * 1024);
  expect(world.ids()).toEqual([1, 2]);
  expect(world.errors).toEqual([expect.stringContaining("is too long (67108865 bytes), skipped")]);
});

test("after stop nothing more is taken", async () => {
  const world = spoolWorld();
  writeFileSync(world.path, lines(1, 2, 3));
  const begun = Promise.withResolvers<void>();
  const hold = Promise.withResolvers<"accepted">();
  const seen: string[] = [];
  const spool = world.open({
    accept: (text) => {
      seen.push(text);
      begun.resolve();
      return hold.promise;
    },
  });
  const polling = spool.poll();
  await begun.promise;
  const stopped = spool.stop();
  hold.resolve("accepted");
  await stopped;
  expect(await polling).toBe(1);
  expect(await spool.poll()).toBe(0);
  expect(seen).toEqual([event(1)]);
  expect(readFileSync(world.path, "utf8")).toBe(lines(1, 2, 3));
  expect(spool.position()?.[1]).toBe(lines(1).length);
});
