/** Tests that mostly wait run side by side, each with a fixture of its own. */
import { test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";

/** With four, on two busy cores, hooks passed their deadline of a second. */
const mostAtOnce = 2;
const defaultTimeoutMs = 30_000;
/** Bun starts twenty tests at once, and the time of a test includes the wait for its turn. */
const maxWaitMs = 120_000;
let free = mostAtOnce;
const waiting: (() => void)[] = [];

interface SideBySide<Fixture> {
  /** Stands for the fixture of the test that calls it. */
  readonly fixture: Fixture;
  readonly test: (title: string, work: () => Promise<void>, timeoutMs?: number) => void;
}

export function runSideBySide<Fixture extends { destroy(): unknown }>(
  create: () => Fixture | Promise<Fixture>,
): SideBySide<Fixture> {
  const current = new AsyncLocalStorage<Fixture>();

  async function run(work: () => Promise<void>): Promise<void> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      const fixture = await create();
      await current.run(fixture, work).finally(() => fixture.destroy());
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  }

  return {
    fixture: new Proxy({} as Fixture, {
      get(_, name) {
        const fixture = current.getStore();
        if (fixture === undefined) throw new Error("a fixture can be used only while a test runs");
        return Reflect.get(fixture, name);
      },
    }),
    test: (title, work, timeoutMs = defaultTimeoutMs) =>
      test.concurrent(title, () => run(work), timeoutMs + maxWaitMs),
  };
}
