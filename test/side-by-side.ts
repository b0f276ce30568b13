/** Tests that mostly wait run side by side, each with a fixture of its own. */

import { test } from "bun:test";
import { AsyncLocalStorage } from "node:async_hooks";

/** More would delay each other: every test starts programs, and there may be only two cores. */
const mostAtOnce = 4;
/** Includes the wait for others to end. */
const defaultTimeoutMs = 30_000;
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
    test: (title, work, timeoutMs = defaultTimeoutMs) => test.concurrent(title, () => run(work), timeoutMs),
  };
}
