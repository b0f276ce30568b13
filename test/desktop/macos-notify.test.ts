import { afterEach, expect, test } from "bun:test";
import type { Notifier, OpenNotifier } from "../../src/core/ports.ts";
import type { MacSettings } from "../../src/desktop/macos/shared.ts";
import { openMacNotifierWith } from "../../src/desktop/notify/macos.ts";
import { openMacTrayWith } from "../../src/desktop/tray/macos.ts";
import { alertOf, type Desk, openDesk, viewOf } from "./macos/desk.ts";
import { answerable } from "./notify-world.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Set {
  readonly desk: Desk;
  readonly notifier: Notifier;
  readonly told: string[];
  readonly problems: string[];
}

async function open(over: Partial<MacSettings> = {}, other: OpenNotifier = async () => null): Promise<Set> {
  const desk = await openDesk(over);
  const told: string[] = [];
  const problems: string[] = [];
  const notifier = await openMacNotifierWith(
    {
      folder: desk.folder,
      onClick: (key, button) => told.push(`clicked ${button === null ? "" : `${button} of `}${key}`),
      onClosed: (key, by) => told.push(`closed ${key} by ${by}`),
      onProblem: (text) => problems.push(text),
    },
    desk.settings,
    other,
  );
  if (notifier === null) throw new Error("no notifier");
  ends.push(desk.stop, notifier.stop);
  return { desk, notifier, told, problems };
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 8_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error("it did not come to that");
    await Bun.sleep(5);
  }
}

test("an alert is shown with its words, replaced in its place, and taken back", async () => {
  const { desk, notifier, told, problems } = await open();
  expect(
    await notifier.show(alertOf("a", { body: "Bash: rm -rf build\n\n  main · iTerm2  \nthree\nfour" })),
  ).toBeNull();
  const { panels } = await desk.until((seen) => seen.panels.length === 1);
  expect(panels).toEqual([{ title: "a needs you", body: "Bash: rm -rf build\nmain · iTerm2\nthree" }]);
  await notifier.show(alertOf("a", { body: "Edit" }));
  await desk.until((seen) => seen.panels[0]?.body === "Edit");
  await notifier.close("a");
  await desk.until((seen) => seen.panels.length === 0);
  await notifier.close("a");
  expect(told).toEqual([]);
  expect(problems).toEqual([]);
});

test("a click is a click and the end of it, the cross only its end", async () => {
  const { desk, notifier, told } = await open();
  await notifier.show(alertOf("a"));
  await notifier.show(alertOf("b"));
  await desk.until((seen) => seen.panels.length === 2);
  await desk.do({ do: "press", title: "a needs you" });
  await desk.do({ do: "close", title: "b needs you" });
  await until(() => told.length === 3);
  expect(told).toEqual(["clicked a", "closed a by person", "closed b by person"]);
});

test("what can be answered is shown word for word, and the answer that was clicked is told", async () => {
  const { desk, notifier, told } = await open();
  await notifier.show({ ...answerable(5), key: "a", title: "a needs you" });
  const { panels } = await desk.until((seen) => seen.panels.length === 1);
  expect(panels[0]?.body).toBe(answerable(5).body);
  await desk.do({ do: "press", title: "a needs you", button: "Allow" });
  await until(() => told.length === 2);
  expect(told).toEqual(["clicked allow@ask-1.abc of a", "closed a by person"]);
});

test("a click that crosses our own close is none", async () => {
  const { desk, notifier, told } = await open();
  await notifier.show(alertOf("a"));
  await desk.until((seen) => seen.panels.length === 1);
  const pressed = desk.do({ do: "press", title: "a needs you" });
  await notifier.close("a");
  await pressed;
  await desk.until((seen) => seen.panels.length === 0);
  expect(told).toEqual([]);
});

test("after a crash what was on the screen is there again, without its sound", async () => {
  const { desk, notifier, told } = await open();
  await notifier.show(alertOf("a", { sound: true }));
  await notifier.show(alertOf("b"));
  await notifier.show(alertOf("gone"));
  await notifier.close("gone");
  const { pid, sounds } = await desk.until((seen) => seen.panels.length === 2);
  expect(sounds).toBe(1);
  process.kill(pid, "SIGKILL");
  const again = await desk.until((seen) => seen.pid !== pid && seen.panels.length === 2);
  expect(again.panels.map(({ title }) => title)).toEqual(["a needs you", "b needs you"]);
  expect(again.sounds).toBe(0);
  expect(told).toEqual([]);
});

test("whether the person wants silence cannot be known here", async () => {
  const { notifier } = await open();
  expect(await notifier.isSilenced()).toBeNull();
});

test("where panels cannot be had, what waits is shown the other way", async () => {
  const shown: string[] = [];
  const { notifier } = await open({ command: () => ["/nowhere/osascript"], maxFailures: 2 }, async () => ({
    show: async (alert) => {
      shown.push(alert.key);
      return `handle of ${alert.key}`;
    },
    close: async (key) => void shown.push(`close ${key}`),
    forget: async () => {},
    isSilenced: async () => null,
    report: async () => ({ way: "a fake", server: null, abilities: null, namesAlerts: true, missing: null }),
    stop: async () => {},
  }));
  await notifier.show(alertOf("a"));
  await until(() => shown.length === 1);
  expect(await notifier.show(alertOf("b"))).toBe("handle of b");
  await notifier.close("a");
  expect(shown).toEqual(["a", "b", "close a"]);
});

test("icon and panels share one child, and it ends with the last of them", async () => {
  const { desk, notifier } = await open();
  const tray = await openMacTrayWith(
    { folder: desk.folder, onAction: () => {}, onProblem: () => {} },
    desk.settings,
    async () => null,
  );
  if (tray === null) throw new Error("no tray");
  ends.push(tray.stop);
  tray.show(viewOf("with panels"));
  await notifier.show(alertOf("a"));
  const { pid } = await desk.until((seen) => seen.tooltip === "with panels" && seen.panels.length === 1);
  expect(desk.starts()).toBe(1);
  await tray.stop();
  const without = await desk.until((seen) => seen.tooltip === null);
  expect(without.panels).toHaveLength(1);
  await notifier.stop();
  expect(() => process.kill(pid, 0)).toThrow();
  expect(desk.starts()).toBe(1);
});
