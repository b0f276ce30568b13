import { expect, test } from "bun:test";
import { createSaver } from "../../src/storage/saver.ts";

test("a burst of changes is saved once, soon after its end", async () => {
  let saves = 0;
  const saver = createSaver(() => saves++, { quietMs: 40, maxMs: 1_000, onError: () => {} });
  for (let n = 0; n < 8; n++) {
    saver.schedule();
    await Bun.sleep(10);
  }
  expect(saves).toBe(0);
  await Bun.sleep(80);
  expect(saves).toBe(1);
  saver.flush();
  expect(saves).toBe(1);
});

test("changes without end are saved all the same", async () => {
  let saves = 0;
  const saver = createSaver(() => saves++, { quietMs: 50, maxMs: 120, onError: () => {} });
  const end = performance.now() + 400;
  while (performance.now() < end) {
    saver.schedule();
    await Bun.sleep(5);
  }
  expect(saves).toBeGreaterThanOrEqual(2);
  expect(saves).toBeLessThanOrEqual(4);
});

test("what takes long to save is saved less often", async () => {
  let saves = 0;
  const save = () => {
    saves++;
    Bun.sleepSync(4);
  };
  const saver = createSaver(save, { quietMs: 5, maxMs: 20, onError: () => {} });
  const end = performance.now() + 600;
  while (performance.now() < end) {
    saver.schedule();
    await Bun.sleep(5);
  }
  // Without a rest there would be some thirty of them.
  expect(saves).toBeGreaterThan(0);
  expect(saves).toBeLessThan(4);
  const before = saves;
  saver.schedule();
  saver.flush();
  expect(saves).toBe(before + 1);
});

test("but never rests for longer than it may", async () => {
  let saves = 0;
  const save = () => {
    saves++;
    Bun.sleepSync(10);
  };
  const saver = createSaver(save, { quietMs: 5, maxMs: 20, maxRestMs: 0, onError: () => {} });
  const end = performance.now() + 300;
  while (performance.now() < end) {
    saver.schedule();
    await Bun.sleep(5);
  }
  expect(saves).toBeGreaterThan(4);
});

test("flush saves at once what is not saved; a failed save is told and tried again", async () => {
  let saves = 0;
  let broken = true;
  const errors: string[] = [];
  const save = () => {
    if (broken) throw new Error("no room");
    saves++;
  };
  const saver = createSaver(save, { quietMs: 10, maxMs: 20, onError: (text) => errors.push(text) });
  saver.flush();
  expect(errors).toEqual([]);
  saver.schedule();
  await Bun.sleep(40);
  expect(errors).toEqual(["no room"]);
  broken = false;
  saver.flush();
  expect(saves).toBe(1);
});
