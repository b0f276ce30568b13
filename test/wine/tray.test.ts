/** The tray icon and its menu on Windows, used with a mouse. */
import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { TrayView } from "../../src/core/view/view.ts";
import type { OpenRow } from "../fixtures/wine/menus.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { startWineDesktop, type WineDesktop } from "./desktop-harness.ts";
import { hasWine, mouseNeeds, wineNeeds } from "./wine.ts";

const test = testWith(...wineNeeds, ...mouseNeeds);
const waitMs = 20_000;
let desktop: WineDesktop;

beforeAll(async () => {
  if (hasWine) desktop = await startWineDesktop();
}, 120_000);
afterEach(async () => {
  if (!hasWine || desktop.child().exitCode !== null) return;
  await desktop.closeMenus();
  desktop.messages().length = 0;
});
afterAll(() => desktop?.wine.destroy(), 30_000);

const view: TrayView = {
  icon: { phase: "blocked", count: 2 },
  title: "beckon: 2 need you",
  tooltip: "beckon: 2 need you\nR&D · 4 min · Bash: npm run deploy",
  leftClick: "menu",
  items: [
    { kind: "entry", id: "h", label: "Needs you (2)", action: null },
    {
      kind: "entry",
      id: "s1",
      label: "● R&D · 4 min · Bash: make a && make b",
      action: null,
      children: [
        { kind: "entry", id: "f", label: "Go to terminal", action: { do: "focus", session: "claude:1" } },
        {
          kind: "entry",
          id: "m",
          label: "Mute this session",
          checked: true,
          action: { do: "mute", session: "claude:1", on: false },
        },
      ],
    },
    {
      kind: "entry",
      id: "s2",
      label: "● shop · 1 min · Question: Which colour?",
      action: null,
      children: [],
    },
    { kind: "entry", id: "n", label: "Next waiting", action: { do: "next" } },
    { kind: "separator", id: "-" },
    { kind: "entry", id: "q", label: "Quit", action: { do: "quit" } },
  ],
};
const calm: TrayView = {
  icon: { phase: "calm", count: 0 },
  title: "beckon: nothing needs you",
  tooltip: "beckon: nothing needs you",
  leftClick: "menu",
  items: [{ kind: "entry", id: "about", label: "About beckon", action: { do: "about" } }],
};

const withoutPositions = (rows: readonly OpenRow[]) => rows.map(({ x, y, ...row }) => row);
const row = (label: string, more: Partial<OpenRow> = {}) => ({
  label,
  grayed: false,
  checked: false,
  opens: false,
  separator: false,
  ...more,
});
const find = (rows: readonly OpenRow[], label: string): OpenRow => {
  const match = rows.find((candidate) => candidate.label === label);
  if (!match) throw new Error(`no ${label} among ${rows.map((candidate) => candidate.label)}`);
  return match;
};

describe("the tray on Windows", () => {
  test("shows an icon that changes with the state", async () => {
    const blocked = await desktop.show(view);
    const quiet = await desktop.show(calm);
    expect(new Set([desktop.withoutIcon, blocked, quiet]).size).toBe(3);
    expect(await desktop.show(view)).toBe(blocked);
  });

  test("opens its menu with either mouse button, and reports what is clicked", async () => {
    for (const button of [1, 3]) {
      const rows = await desktop.openMenu(button);
      expect(withoutPositions(rows)).toEqual([
        row("Needs you (2)", { grayed: true }),
        row("● R&&D · 4 min · Bash: make a &&&& make b", { opens: true }),
        row("● shop · 1 min · Question: Which colour?", { grayed: true }),
        row("Next waiting"),
        row("", { separator: true, grayed: true }),
        row("Quit"),
      ]);
      await desktop.wine.click(find(rows, "Next waiting"));
      await desktop.waitForMessage({ action: { do: "next" } });
      desktop.messages().length = 0;
    }
  });

  test("goes to the next waiting session with the middle button, and with the left one if that is set", async () => {
    await desktop.clickIcon(2);
    await desktop.waitForMessage({ action: { do: "next" } });
    desktop.messages().length = 0;
    // Two icons in a row, so that the second one is on the screen when its picture has changed.
    await desktop.show(calm);
    await desktop.show({ ...view, leftClick: "nextWaiting" });
    await desktop.clickIcon(1);
    await desktop.waitForMessage({ action: { do: "next" } });
    expect(await desktop.readMenus()).toEqual([]);
    await desktop.show(calm);
    await desktop.show(view);
  });

  test("has the actions of a session in a submenu", async () => {
    const rows = await desktop.openMenu(3);
    await desktop.wine.moveMouse(find(rows, "● R&&D · 4 min · Bash: make a &&&& make b"));
    const submenu = await desktop.waitForMenus(2);
    expect(withoutPositions(submenu)).toEqual([
      row("Go to terminal"),
      row("Mute this session", { checked: true }),
    ]);
    await desktop.wine.takePicture(null, "wine-menu");
    await desktop.wine.click(find(submenu, "Mute this session"));
    await desktop.waitForMessage({ action: { do: "mute", session: "claude:1", on: false } });
  });

  test("an open menu does not change while the icon does, and the next one is new", async () => {
    const rows = await desktop.openMenu(1);
    const before = await desktop.takeIconPicture();
    await desktop.request("view", calm);
    await desktop.waitForOtherIcon(before);
    expect(await desktop.readMenus()).toEqual([rows]);
    await desktop.wine.click(find(rows, "Quit"));
    await desktop.waitForMessage({ action: { do: "quit" } });
    expect(withoutPositions(await desktop.openMenu(1))).toEqual([row("About beckon")]);
  });

  test("of many changes at once the last one is shown", async () => {
    const wanted = await desktop.show(view);
    await desktop.show(calm);
    for (let count = 0; count < 300; count++) {
      await desktop.request("view", { ...view, icon: { phase: "blocked", count: 3 + (count % 5) } });
    }
    await desktop.request("view", view);
    await waitUntil(async () => (await desktop.takeIconPicture()) === wanted, waitMs);
  });

  test("comes back after a restart of the taskbar", async () => {
    await desktop.show(calm);
    const before = await desktop.show(view);
    await desktop.request("lose-icon");
    await waitUntil(async () => (await desktop.takeIconPicture()) === desktop.withoutIcon, waitMs);
    await waitUntil(async () => (await desktop.takeIconPicture()) === before, waitMs);
    expect(withoutPositions(await desktop.openMenu(1))).toContainEqual(row("Next waiting"));
  });

  test("comes back after its thread has died", async () => {
    const before = await desktop.takeIconPicture();
    await desktop.request("break-thread");
    await desktop.waitForProblem(/^the tray's thread died \(.+\): beckon starts it again in 500 ms$/);
    await desktop.request("view", view);
    await waitUntil(async () => (await desktop.takeIconPicture()) === before, waitMs);
    // The first click can hit the icon of the dead thread: Wine's taskbar removes it only then.
    const rows = await desktop.openMenu(1, 5_000).catch(() => desktop.openMenu(1));
    await desktop.wine.click(find(rows, "Next waiting"));
    await desktop.waitForMessage({ action: { do: "next" } });
  });

  test("disappears with the app, whether that was stopped or crashed", async () => {
    await desktop.request("stop");
    expect(await desktop.child().exited).toBe(0);
    await waitUntil(async () => (await desktop.takeIconPicture()) === desktop.withoutIcon, waitMs);
    await desktop.restart();
    await desktop.show(view);
    const started = performance.now();
    await desktop.request("exit").catch(() => {});
    expect(await desktop.child().exited).toBe(3);
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  test("is shown by systray2 after its thread has died too often", async () => {
    await desktop.restart();
    await desktop.show(view);
    await desktop.request("break-thread");
    await desktop.waitForProblem(/^the tray's thread died 4 times in a row \(.+\): beckon gives up$/);
    // Its menu is not opened here: under Wine one click in some runs finds the icon of the dead thread again and again.
    const icons = join(desktop.wine.folder, "systray2/2.1.4/icons");
    await waitUntil(() => existsSync(icons) && readdirSync(icons).length > 0, waitMs);
    await waitUntil(async () => (await desktop.takeIconPicture()) !== desktop.withoutIcon, waitMs);
    await desktop.request("stop");
    expect(await desktop.child().exited).toBe(0);
    expect(readdirSync(icons)).toEqual([]);
  }, 90_000);
});
