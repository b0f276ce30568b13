import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { createMemoryRelease } from "../../src/app/release-memory.ts";
import type { SessionChange } from "../../src/core/interfaces/index.ts";

const change = {} as SessionChange;
let shrinks = 0;
const createSink = () => createMemoryRelease({ shrink: () => shrinks++ });

beforeEach(() => {
  jest.useFakeTimers();
  shrinks = 0;
});
afterEach(() => void jest.useRealTimers());

test("memory is released once after the start, and not again while nothing happens", () => {
  createSink();
  jest.advanceTimersByTime(14_000);
  expect(shrinks).toBe(0);
  jest.advanceTimersByTime(2_000);
  expect(shrinks).toBe(1);
  jest.advanceTimersByTime(60 * 60_000);
  expect(shrinks).toBe(1);
});

test("while events arrive nothing is released; once they stop, memory is released again", () => {
  const sink = createSink();
  for (let n = 0; n < 100; n++) {
    sink.onChange?.(change);
    jest.advanceTimersByTime(45_000);
  }
  expect(shrinks).toBe(0);
  jest.advanceTimersByTime(20_000);
  expect(shrinks).toBe(1);
  sink.onChange?.(change);
  jest.advanceTimersByTime(61_000);
  expect(shrinks).toBe(2);
});

test("after a stop nothing is released", async () => {
  const sink = createSink();
  await sink.stop?.();
  jest.advanceTimersByTime(60_000);
  expect(shrinks).toBe(0);
});
