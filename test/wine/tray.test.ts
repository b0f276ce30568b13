/** The tray of the Windows build, on a taskbar, with a mouse. */
import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { TrayView } from "../../src/core/view/view.ts";
import type { SeenRow } from "../fixtures/wine/menus.ts";
import { testWith } from "../needs.ts";
import { until } from "../world.ts";
import { type Desktop, openDesktop } from "./desktop.ts";
import { hasWine, mouseNeeds, wineNeeds } from "./world.ts";

const test = testWith(...wineNeeds, ...mouseNeeds);
const lastRow = { x: 870, y: 569 };
let desktop: Desktop;

beforeAll(async () => {
  if (hasWine) desktop = await openDesktop();
}, 120_000);
afterEach(async () => {
  if (!hasWine || desktop.child().exitCode !== null) return;
  await desktop.closeMenus();
  desktop.said().length = 0;
});
afterAll(() => desktop?.world.destroy(), 30_000);

const view: TrayView = {
  icon: { phase: "blocked", count: 2 },
  title: "beckon: 2 need you",
  tooltip: "beckon: 2 need you\nR&D · 4 min · Bash: npm run deploy",
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
  items: [{ kind: "entry", id: "about", label: "About beckon", action: { do: "about" } }],
};

const seen = (rows: readonly SeenRow[]) => rows.map(({ x, y, ...row }) => row);
const row = (label: string, more: Partial<SeenRow> = {}) => ({
  label,
  grayed: false,
  checked: false,
  opens: false,
  separator: false,
  ...more,
});
const find = (rows: readonly SeenRow[], label: string): SeenRow => {
  const found = rows.find((other) => other.label === label);
  if (!found) throw new Error(`no ${label} among ${rows.map((other) => other.label)}`);
  return found;
};

describe("the tray on Windows", () => {
  test("shows an icon, and another when the state is another", async () => {
    const blocked = await desktop.show(view);
    const quiet = await desktop.show(calm);
    expect(new Set([desktop.withoutIcon, blocked, quiet]).size).toBe(3);
    expect(await desktop.show(view)).toBe(blocked);
  });

  test("opens its menu at a click of either button, and does what is clicked in it", async () => {
    for (const button of [1, 3]) {
      const rows = await desktop.openMenu(button);
      expect(seen(rows)).toEqual([
        row("Needs you (2)", { grayed: true }),
        row("● R&&D · 4 min · Bash: make a &&&& make b", { opens: true }),
        row("● shop · 1 min · Question: Which colour?", { grayed: true }),
        row("Next waiting"),
        row("", { separator: true, grayed: true }),
        row("Quit"),
      ]);
      await desktop.world.click(find(rows, "Next waiting"));
      await desktop.hears({ action: { do: "next" } });
      desktop.said().length = 0;
    }
  });

  test("has what can be done with a session one step further", async () => {
    const rows = await desktop.openMenu(3);
    await desktop.world.point(find(rows, "● R&&D · 4 min · Bash: make a &&&& make b"));
    const inside = await desktop.menuNumber(2);
    expect(seen(inside)).toEqual([row("Go to terminal"), row("Mute this session", { checked: true })]);
    await desktop.world.picture(null, "wine-menu");
    await desktop.world.click(find(inside, "Mute this session"));
    await desktop.hears({ action: { do: "mute", session: "claude:1", on: false } });
  });

  test("an open menu stays as it is while the icon changes and the app goes on, and the next one is new", async () => {
    const rows = await desktop.openMenu(1);
    const before = await desktop.icon();
    await desktop.ask("view", calm);
    await desktop.iconOtherThan(before);
    expect(await desktop.menus()).toEqual([rows]);
    await desktop.world.click(find(rows, "Quit"));
    await desktop.hears({ action: { do: "quit" } });
    expect(seen(await desktop.openMenu(1))).toEqual([row("About beckon")]);
  });

  test("of many changes at once the last is shown", async () => {
    const wanted = await desktop.show(view);
    await desktop.show(calm);
    for (let count = 0; count < 300; count++) {
      await desktop.ask("view", { ...view, icon: { phase: "blocked", count: 3 + (count % 5) } });
    }
    await desktop.ask("view", view);
    await until(async () => (await desktop.icon()) === wanted, 5_000);
  });

  test("is back when the taskbar was started again and knows nothing of it", async () => {
    await desktop.show(calm);
    const before = await desktop.show(view);
    await desktop.ask("lose-icon");
    await until(async () => (await desktop.icon()) === desktop.withoutIcon, 5_000);
    await until(async () => (await desktop.icon()) === before, 5_000);
    expect(seen(await desktop.openMenu(1))).toContainEqual(row("Next waiting"));
  });

  test("is back when its thread has died", async () => {
    const before = await desktop.icon();
    await desktop.ask("break-thread");
    await desktop.hearsProblem(/^the tray's thread died \(.+\): started again in 500 ms$/);
    await desktop.ask("view", view);
    await until(async () => (await desktop.icon()) === before, 8_000);
    const rows = await desktop.openMenu(1);
    await desktop.world.click(find(rows, "Next waiting"));
    await desktop.hears({ action: { do: "next" } });
  });

  test("goes with the app, at once, whether it was stopped or fell", async () => {
    await desktop.ask("stop");
    expect(await desktop.child().exited).toBe(0);
    await until(async () => (await desktop.icon()) === desktop.withoutIcon, 5_000);
    await desktop.startAgain();
    await desktop.show(view);
    const started = performance.now();
    await desktop.ask("exit").catch(() => {});
    expect(await desktop.child().exited).toBe(3);
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  test("is systray2's once its own thread has died too often", async () => {
    await desktop.startAgain();
    await desktop.show(view);
    await desktop.ask("break-thread");
    await desktop.hearsProblem(/^the tray's thread died 4 times in a row \(.+\): given up$/);
    await until(async () => (await desktop.icon()) !== desktop.withoutIcon, 10_000);
    // Of another process's menu nothing can be read: it opens upwards from the taskbar, and ends with Quit.
    await desktop.openMenu(3);
    await desktop.world.click(lastRow);
    await desktop.hears({ action: { do: "quit" } });
    const icons = join(desktop.world.folder, "systray2/2.1.4/icons");
    expect(readdirSync(icons)).not.toEqual([]);
    await desktop.ask("stop");
    expect(await desktop.child().exited).toBe(0);
    expect(readdirSync(icons)).toEqual([]);
  });
});
