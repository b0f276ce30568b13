/** A fixture of its own for every test of a file. */
import { afterEach, beforeEach } from "bun:test";

/** Creates a fixture before each test and destroys it after the test. Returns an object that stands for the current one. */
export function forEachTest<Fixture extends { destroy(): unknown }>(create: () => Fixture): Fixture {
  let current: Fixture | null = null;
  beforeEach(() => {
    current = create();
  });
  afterEach(async () => {
    await current?.destroy();
    current = null;
  });
  return new Proxy({} as Fixture, {
    get(_, name) {
      if (current === null) throw new Error("a fixture can be used only while a test runs");
      return Reflect.get(current, name);
    },
  });
}
