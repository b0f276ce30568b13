import { expect, test } from "bun:test";
import { createRounds } from "../../src/system/rounds.ts";
import { createVirtualTime } from "../virtual-time.ts";

/** Each round takes until `finish` is called. */
function createFixture(pauseMs: number) {
  const time = createVirtualTime();
  const startedT = time.clock().t;
  const ranAt: number[] = [];
  let finish = () => {};
  const rounds = createRounds({
    clock: time.clock,
    schedule: time.schedule,
    firstMs: 1_000,
    pauseAfter: () => pauseMs,
    prepare: async () => {},
    run() {
      ranAt.push(time.clock().t - startedT);
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
    },
    onError: (error) => {
      throw error;
    },
  });
  return { ...time, rounds, ranAt, finish: () => finish(), runNow: () => rounds.runAt(time.clock().t) };
}

test("no round runs before the first one is due, however many are asked for", async () => {
  const { advance, runNow, ranAt } = createFixture(0);
  for (let n = 0; n < 9; n++) {
    runNow();
    await advance(100);
  }
  expect(ranAt).toEqual([]);
  await advance(100);
  expect(ranAt).toEqual([1_000]);
});

test("a round that is asked for while one waits for something runs after it, and after its pause", async () => {
  const { advance, runNow, ranAt, finish } = createFixture(250);
  runNow();
  await advance(1_000);
  runNow();
  await advance(5_000);
  expect(ranAt).toEqual([1_000]);
  finish();
  await advance(249);
  expect(ranAt).toEqual([1_000]);
  await advance(1);
  expect(ranAt).toEqual([1_000, 6_250]);
  finish();
  await advance(60_000);
  expect(ranAt).toHaveLength(2);
});

test("after stop no round runs, also if one was asked for during the last one", async () => {
  const { advance, rounds, runNow, ranAt, finish } = createFixture(0);
  runNow();
  await advance(1_000);
  runNow();
  rounds.stop();
  finish();
  await advance(60_000);
  expect(ranAt).toEqual([1_000]);
});
