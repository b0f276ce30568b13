import { afterEach, expect, test } from "bun:test";
import type { Notifier } from "../../src/core/interfaces/index.ts";
import type { MacSettings } from "../../src/desktop/macos/index.ts";
import { openMacNotifierWith } from "../../src/desktop/notify/macos.ts";
import { openMacTrayWith } from "../../src/desktop/tray/macos.ts";
import { waitUntil } from "../wait-until.ts";
import { createAlert, createView, type HelperHarness, startHarness } from "./macos/helper-harness.ts";
import { answerable } from "./notify-fixtures.ts";

const limitMs = 20_000;
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Opened {
  readonly harness: HelperHarness;
  readonly notifier: Notifier;
  readonly events: string[];
  readonly problems: string[];
}

async function open(over: Partial<MacSettings> = {}): Promise<Opened> {
  const harness = await startHarness(over);
  const events: string[] = [];
  const problems: string[] = [];
  const notifier = await openMacNotifierWith(
    {
      folder: harness.folder,
      onClick: (key, button) => events.push(`clicked ${button === null ? "" : `${button} of `}${key}`),
      onClosed: (key, by) => events.push(`closed ${key} by ${by}`),
      onProblem: (text) => problems.push(text),
    },
    harness.settings,
  );
  cleanups.push(harness.stop, notifier.stop);
  return { harness, notifier, events, problems };
}

test("an alert is shown, updated and closed", async () => {
  const { harness, notifier, events, problems } = await open();
  expect(
    await notifier.show(createAlert("a", { body: "Bash: rm -rf build\n\n  main · iTerm2  \nthree\nfour" })),
  ).toBeNull();
  const { panels } = await harness.waitForScreen((screen) => screen.panels.length === 1);
  expect(panels).toEqual([{ title: "a needs you", body: "Bash: rm -rf build\nmain · iTerm2\nthree" }]);
  await notifier.show(createAlert("a", { body: "Edit" }));
  await harness.waitForScreen((screen) => screen.panels[0]?.body === "Edit");
  await notifier.close("a");
  await harness.waitForScreen((screen) => screen.panels.length === 0);
  await notifier.close("a");
  expect(events).toEqual([]);
  expect(problems).toEqual([]);
});

test("a click is reported and closes the alert, the close button only closes it", async () => {
  const { harness, notifier, events } = await open();
  await notifier.show(createAlert("a"));
  await notifier.show(createAlert("b"));
  await harness.waitForScreen((screen) => screen.panels.length === 2);
  await harness.perform({ do: "click", title: "a needs you" });
  await harness.perform({ do: "close", title: "b needs you" });
  await waitUntil(() => events.length === 3, limitMs);
  expect(events).toEqual(["clicked a", "closed a by user", "closed b by user"]);
});

test("an alert that can be answered shows the exact text, and a click on a button is reported as that answer", async () => {
  const { harness, notifier, events } = await open();
  await notifier.show({ ...answerable(5), key: "a", title: "a needs you" });
  const { panels } = await harness.waitForScreen((screen) => screen.panels.length === 1);
  expect(panels[0]?.body).toBe(answerable(5).body);
  await harness.perform({ do: "click", title: "a needs you", button: "Allow" });
  await waitUntil(() => events.length === 2, limitMs);
  expect(events).toEqual(["clicked allow@ask-1.abc of a", "closed a by user"]);
});

test("a click on an alert that beckon is closing is ignored", async () => {
  const { harness, notifier, events } = await open();
  await notifier.show(createAlert("a"));
  await harness.waitForScreen((screen) => screen.panels.length === 1);
  const pressed = harness.perform({ do: "click", title: "a needs you" });
  await notifier.close("a");
  await pressed;
  await harness.waitForScreen((screen) => screen.panels.length === 0);
  expect(events).toEqual([]);
});

test("after a crash of the helper the alerts are shown again, without a sound", async () => {
  const { harness, notifier, events } = await open();
  await notifier.show(createAlert("a", { sound: true }));
  await notifier.show(createAlert("b"));
  await notifier.show(createAlert("gone"));
  await notifier.close("gone");
  const { pid, sounds } = await harness.waitForScreen((screen) => screen.panels.length === 2);
  expect(sounds).toBe(1);
  process.kill(pid, "SIGKILL");
  const again = await harness.waitForScreen((screen) => screen.pid !== pid && screen.panels.length === 2);
  expect(again.panels.map(({ title }) => title)).toEqual(["a needs you", "b needs you"]);
  expect(again.sounds).toBe(0);
  expect(events).toEqual([]);
});

test("do-not-disturb is unknown on macOS", async () => {
  const { notifier } = await open();
  expect(await notifier.isSilenced()).toBeNull();
});

test("if the helper does not start, that is reported once, and alerts that wait are shown as soon as it does", async () => {
  const working = await startHarness();
  cleanups.push(working.stop);
  let isRepaired = false;
  const { notifier, problems } = await open({
    command: (folder) => (isRepaired ? working.settings.command(folder) : ["/nowhere/osascript"]),
    maxFailures: 2,
  });
  await notifier.show(createAlert("a"));
  await waitUntil(() => problems.length === 3, limitMs);
  expect(problems[2]).toStartWith("alerts cannot be shown: the helper (osascript) does not stay up");
  expect((await notifier.report()).missing).toContain("does not stay up");
  isRepaired = true;
  await working.waitForScreen(({ panels }) => panels.length === 1);
  expect((await notifier.report()).missing).toBeNull();
  expect(problems).toHaveLength(3);
});

test("icon and alerts share one helper, and it ends with the last of them", async () => {
  const { harness, notifier } = await open();
  const tray = await openMacTrayWith(
    { folder: harness.folder, onAction: () => {}, onProblem: () => {} },
    harness.settings,
  );
  cleanups.push(tray.stop);
  tray.show(createView("with panels"));
  await notifier.show(createAlert("a"));
  const { pid } = await harness.waitForScreen(
    (screen) => screen.tooltip === "with panels" && screen.panels.length === 1,
  );
  expect(harness.starts()).toBe(1);
  await tray.stop();
  const without = await harness.waitForScreen((screen) => screen.tooltip === null);
  expect(without.panels).toHaveLength(1);
  await notifier.stop();
  expect(() => process.kill(pid, 0)).toThrow();
  expect(harness.starts()).toBe(1);
});
