/** When rounds run: a long one is followed by a pause, which what a user waits for cuts short. */
import { expect, test } from "bun:test";
import { pauseAfter } from "../../src/channels/sink.ts";
import { createRounds } from "../../src/system/rounds.ts";

function createFixture(roundTakesMs: number) {
  let t = 0;
  let due: { readonly t: number; readonly run: () => void } | null = null;
  const ranAt: number[] = [];
  const rounds = createRounds({
    clock: () => ({ at: t, t, boot: "boot", host: "host" }),
    schedule(run, delayMs) {
      const timer = { t: t + delayMs, run };
      due = timer;
      return () => {
        if (due === timer) due = null;
      };
    },
    firstMs: 0,
    pauseAfter,
    prepare: async () => null,
    run() {
      ranAt.push(t);
      t += roundTakesMs;
    },
    onError: (error) => {
      throw error;
    },
  });
  return {
    rounds,
    ranAt,
    /** Runs what is due next. */
    async runNext(): Promise<void> {
      if (due === null) throw new Error("no round is due");
      const { run } = due;
      t = due.t;
      due = null;
      run();
      await Promise.resolve();
      await Promise.resolve();
    },
  };
}

test("after a round that took long, the next one waits a second at most", async () => {
  const { rounds, ranAt, runNext } = createFixture(20);
  rounds.runAt(0);
  await runNext();
  rounds.runSoon();
  await runNext();
  expect(ranAt).toEqual([0, 1_020]);
});

test("what a user waits for does not wait for the end of the pause", async () => {
  const { rounds, ranAt, runNext } = createFixture(20);
  rounds.runAt(0);
  await runNext();
  rounds.runSoon();
  rounds.runNow();
  await runNext();
  expect(ranAt).toEqual([0, 120]);
});

test("a round that took no time is followed by the next one at once", async () => {
  const { rounds, ranAt, runNext } = createFixture(0);
  rounds.runAt(0);
  await runNext();
  rounds.runNow();
  await runNext();
  expect(ranAt).toEqual([0, 0]);
});
