import { expect, test } from "bun:test";
import { createCalls } from "../../src/system/calls.ts";

/** Items whose text should be on a slow screen. */
function createSlowScreen(maxCalls: number) {
  const wanted = new Map<string, string>();
  const screen = new Map<string, string>();
  const started: string[] = [];
  const waiting: (() => void)[] = [];
  const calls = createCalls<string>({
    items: () => wanted.keys(),
    maxCalls,
    plan(key) {
      const text = wanted.get(key) ?? "";
      if (screen.get(key) === text) return null;
      return async () => {
        started.push(`${key} ${text}`);
        await new Promise<void>((resolve) => waiting.push(resolve));
        screen.set(key, text);
      };
    },
    onDone: () => calls.start(),
  });
  return {
    calls,
    screen,
    started,
    want(key: string, text: string) {
      wanted.set(key, text);
      calls.start();
    },
    /** Ends the oldest call. Resolves when those that follow it have started. */
    async answer() {
      waiting.shift()?.();
      await new Promise(setImmediate);
    },
  };
}

test("a text that changes many times during a call is shown once more, with its last state", async () => {
  const { want, answer, started, screen } = createSlowScreen(8);
  for (let n = 0; n < 1_000; n++) want("a", `${n}`);
  expect(started).toEqual(["a 0"]);
  await answer();
  expect(started).toEqual(["a 0", "a 999"]);
  await answer();
  expect(screen.get("a")).toBe("999");
});

test("no more calls than allowed run at the same time, and the others follow in order", async () => {
  const { want, answer, started, calls } = createSlowScreen(2);
  for (const key of ["a", "b", "c", "d"]) want(key, "x");
  expect(started).toEqual(["a x", "b x"]);
  expect(["a", "c"].map(calls.isCalling)).toEqual([true, false]);
  want("c", "y");
  await answer();
  await answer();
  expect(started).toEqual(["a x", "b x", "c y", "d x"]);
});

test("who stops can wait for the calls that are under way", async () => {
  const { want, answer, calls, screen } = createSlowScreen(1);
  want("a", "x");
  const finished = calls.finish().then(() => screen.get("a"));
  await answer();
  expect(await finished).toBe("x");
});
