import { expect, test } from "bun:test";
import { createSaver, type SaverOptions } from "../../src/storage/saver.ts";
import { createVirtualTime } from "../virtual-time.ts";

interface FixtureOptions extends Partial<SaverOptions> {
  /** How long a save takes, in virtual time. */
  readonly saveMs?: number;
  readonly isBroken?: () => boolean;
}

function createFixture({ saveMs = 0, isBroken, ...options }: FixtureOptions = {}) {
  const time = createVirtualTime();
  let spentMs = 0;
  const now = () => time.clock().t + spentMs;
  const startedAt = now();
  const savedAt: number[] = [];
  const errors: string[] = [];
  const save = () => {
    if (isBroken?.()) throw new Error("no room");
    savedAt.push(now() - startedAt);
    spentMs += saveMs;
  };
  const onError = (text: string) => void errors.push(text);
  const saver = createSaver(save, { onError, now, schedule: time.schedule, ...options });
  return { saver, savedAt, errors, advance: time.advance };
}

test("changes in quick succession are saved once, soon after the last one", async () => {
  const { saver, savedAt, advance } = createFixture({ quietMs: 40, maxDelayMs: 1_000 });
  for (let n = 0; n < 8; n++) {
    saver.schedule();
    await advance(10);
  }
  expect(savedAt).toEqual([]);
  await advance(1_000);
  expect(savedAt).toEqual([110]);
  saver.flush();
  expect(savedAt).toHaveLength(1);
});

test("changes that never stop are saved again and again", async () => {
  const { saver, savedAt, advance } = createFixture({ quietMs: 50, maxDelayMs: 120 });
  for (let n = 0; n < 80; n++) {
    saver.schedule();
    await advance(5);
  }
  expect(savedAt).toEqual([120, 240, 360]);
});

test("a state that takes long to save is saved less often", async () => {
  const { saver, savedAt, advance } = createFixture({ quietMs: 5, maxDelayMs: 20, saveMs: 4 });
  for (let n = 0; n < 120; n++) {
    saver.schedule();
    await advance(5);
  }
  // A hundred times as long as the save took, and no more.
  expect(savedAt).toHaveLength(2);
  expect((savedAt[1] ?? 0) - (savedAt[0] ?? 0)).toBeGreaterThanOrEqual(400);
  saver.schedule();
  saver.flush();
  expect(savedAt).toHaveLength(3);
});

test("the pause after a long save has a limit", async () => {
  const { saver, savedAt, advance } = createFixture({
    quietMs: 5,
    maxDelayMs: 20,
    saveMs: 10,
    maxPauseMs: 0,
  });
  for (let n = 0; n < 60; n++) {
    saver.schedule();
    await advance(5);
  }
  expect(savedAt.length).toBeGreaterThan(4);
});

test("flush saves at once, and only what is not saved yet", () => {
  const { saver, savedAt } = createFixture();
  saver.flush();
  expect(savedAt).toEqual([]);
  saver.schedule();
  saver.flush();
  expect(savedAt).toEqual([0]);
});

test("a save that fails is reported and tried again", async () => {
  let isBroken = true;
  const { saver, savedAt, errors, advance } = createFixture({ quietMs: 10, isBroken: () => isBroken });
  saver.schedule();
  await advance(10);
  expect(errors).toEqual(["no room"]);
  isBroken = false;
  saver.flush();
  expect(savedAt).toEqual([10]);
});
