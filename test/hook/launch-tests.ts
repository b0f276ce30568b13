/** Tests of hooks that start beckon: one virtual screen for the file, and a harness for each test. */
import { afterAll, beforeAll } from "bun:test";
import { forEachTest } from "../for-each-test.ts";
import { hasAll, testWith } from "../needs.ts";
import {
  createLaunchHarness,
  type LaunchHarness,
  startScreen,
  type VirtualScreen,
} from "./launch-harness.ts";

const launchNeeds = ["linux", "Xvfb", "setpriv"] as const;

export function createLaunchTests(): {
  readonly onScreen: ReturnType<typeof testWith>;
  readonly harness: LaunchHarness;
} {
  let screen: VirtualScreen | null = null;
  beforeAll(async () => {
    if (hasAll(launchNeeds)) screen = await startScreen();
  });
  afterAll(() => screen?.stop());
  // Without a screen, the tests that would use it are skipped.
  const none = { destroy() {} } as unknown as LaunchHarness;
  const harness = forEachTest(() => (screen === null ? none : createLaunchHarness(screen)));
  return { onScreen: testWith(...launchNeeds), harness };
}
