import { afterAll, expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { removeTemporaryFolders } from "./folder.ts";
import { event, spoolWorld } from "./spool-fixture.ts";

afterAll(removeTemporaryFolders);

const lines = (...ids: (string | number)[]): string => ids.map((id) => `${event(id)}\n`).join("");

test("killed after any event, the next start goes on exactly there", async () => {
  for (let dies = 0; dies <= 6; dies++) {
    const world = spoolWorld();
    const deadly = (limit: number) => {
      let left = limit;
      return world.open({
        accept: async (text, next) => {
          // Never settles: a process that is gone.
          if (left-- === 0) return new Promise<"accepted">(() => {});
          world.taken.push(text);
          world.position = next;
          return "accepted";
        },
      });
    };
    // Two files at once: one is being put away when the next one comes, and a late writer adds to the first.
    writeFileSync(world.path, lines(1, 2));
    const late = openSync(world.path, "a");
    const first = deadly(dies);
    first.poll();
    await Bun.sleep(1);
    writeSync(late, lines("late"));
    closeSync(late);
    appendFileSync(world.path, lines(3, 4));
    first.poll();
    await Bun.sleep(1);

    const second = world.open();
    await second.poll();
    await Bun.sleep(60);
    await second.poll();
    await second.poll();
    expect(world.ids().sort()).toEqual([1, 2, 3, 4, "late"].sort());
    expect(world.errors).toEqual([]);
  }
});

test("what an earlier beckon had begun to put away comes before what is new", async () => {
  const world = spoolWorld();
  writeFileSync(world.putAway, lines(1, 2));
  writeFileSync(world.path, lines(3));
  const spool = world.open();
  expect(await spool.poll()).toBe(3);
  expect(world.ids()).toEqual([1, 2, 3]);
  await Bun.sleep(60);
  await spool.poll();
  await spool.poll();
  await Bun.sleep(60);
  await spool.poll();
  expect([existsSync(world.path), existsSync(world.putAway)]).toEqual([false, false]);
  expect(world.ids()).toEqual([1, 2, 3]);
});

test("a new file is read from its start, also where it got the number of the old one", async () => {
  for (let round = 0; round < 5; round++) {
    const world = spoolWorld();
    writeFileSync(world.path, lines(1, 2));
    await world.open().poll();
    rmSync(world.putAway);
    writeFileSync(world.path, lines("a", "b", "c"));
    await world.open().poll();
    expect(world.ids()).toEqual([1, 2, "a", "b", "c"]);
  }
});

test("a file that was emptied in place and written anew is read from its start", async () => {
  const world = spoolWorld();
  writeFileSync(world.path, `${lines(1, 2)}{"torn":`);
  const spool = world.open({ quietMs: 10_000 });
  await spool.poll();
  truncateSync(world.path);
  appendFileSync(world.path, lines("a"));
  await spool.poll();
  expect(world.ids()).toEqual([1, 2, "a"]);
});

test("a file that was cut shorter than what was taken of it does not swallow what comes next", async () => {
  const world = spoolWorld();
  writeFileSync(world.path, `${lines(1, 2, 3)}{"torn":`);
  const spool = world.open({ quietMs: 10_000 });
  await spool.poll();
  truncateSync(world.path, lines(1).length);
  appendFileSync(world.path, lines("a"));
  await spool.poll();
  expect(world.ids().at(-1)).toBe("a");
});

test("an unfinished last line does not keep the file for ever: whole it is taken, a stump is told and dropped", async () => {
  for (const [rest, ids, errors] of [
    [event(2), [1, 2], 0],
    ['{"provider":"cl', [1], 1],
    ["x".repeat(20_000), [1], 1],
  ] as const) {
    const world = spoolWorld();
    writeFileSync(world.path, lines(1) + rest);
    const spool = world.open();
    await spool.poll();
    await spool.poll();
    expect(existsSync(world.path)).toBe(true);
    for (let n = 0; n < 3; n++) {
      await Bun.sleep(55);
      await spool.poll();
    }
    expect(world.ids()).toEqual([...ids]);
    expect(world.errors).toHaveLength(errors);
    expect([existsSync(world.path), existsSync(world.putAway)]).toEqual([false, false]);
  }
});

test("the put-away file stays as long as somebody adds to it", async () => {
  const world = spoolWorld();
  writeFileSync(world.path, lines(1));
  const slow = openSync(world.path, "a");
  const spool = world.open({ quietMs: 100 });
  await spool.poll();
  for (let n = 2; n <= 5; n++) {
    await Bun.sleep(60);
    writeSync(slow, lines(n));
    await spool.poll();
    expect(existsSync(world.putAway)).toBe(true);
  }
  closeSync(slow);
  await Bun.sleep(110);
  await spool.poll();
  expect(existsSync(world.putAway)).toBe(false);
  expect(world.ids()).toEqual([1, 2, 3, 4, 5]);
});
