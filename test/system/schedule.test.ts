import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { scheduleTogether } from "../../src/system/schedule.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Repeats itself as the pollers do. Returns when it ran. */
function poll(): number[] {
  const times: number[] = [];
  const again = () =>
    scheduleTogether(() => {
      times.push(performance.now());
      again();
    }, 1_000);
  again();
  return times;
}

test("what is repeated every second runs every second, all of it at the same moment", () => {
  const first = poll();
  jest.advanceTimersByTime(130);
  const second = poll();
  jest.advanceTimersByTime(310);
  const third = poll();
  jest.advanceTimersByTime(10_000);
  for (const times of [first, second, third]) {
    expect(times.length).toBeGreaterThanOrEqual(9);
    const last = times.slice(-8).map(Math.round);
    expect(last).toEqual(first.slice(-8).map(Math.round));
    expect(last.slice(1).map((time, n) => time - (last[n] ?? 0))).toEqual(Array(7).fill(1_000));
  }
});

test("what is cancelled does not run", () => {
  let runs = 0;
  const cancel = scheduleTogether(() => runs++, 1_000);
  cancel();
  jest.advanceTimersByTime(5_000);
  expect(runs).toBe(0);
});
