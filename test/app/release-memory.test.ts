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

test("what a storm of events leaves behind is collected a second after its end, and only then", () => {
  let collections = 0;
  let isLarge = true;
  const sink = createMemoryRelease({
    shrink: () => {},
    collect: () => collections++,
    isLarge: () => isLarge,
  });
  const send = (events: number) => {
    for (let n = 0; n < events; n++) {
      if (n % 10 === 0) jest.advanceTimersByTime(2);
      sink.onChange?.(change);
    }
  };
  send(1_000);
  jest.advanceTimersByTime(10_000);
  expect(collections).toBe(0);
  send(20_000);
  expect(collections).toBe(0);
  jest.advanceTimersByTime(2_000);
  expect(collections).toBe(1);
  send(1_000);
  jest.advanceTimersByTime(10_000);
  expect(collections).toBe(1);
  isLarge = false;
  send(20_000);
  jest.advanceTimersByTime(10_000);
  expect(collections).toBe(1);
});
