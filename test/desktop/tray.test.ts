import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { testWith } from "../needs.ts";
import { until } from "../world.ts";
import {
  busOf,
  entry,
  findBlockedIcon,
  menuLabels,
  panelArea,
  registeredItems,
  separator,
  startTrayApp,
  type TrayApp,
  view,
} from "./tray-app.ts";
import { type Desktop, desktopNeeds, startDesktop } from "./world.ts";

/** A test that takes too long has all programs killed that any test of this file started: the whole desktop. */
const testOnDesktop = (name: string, run: () => Promise<void>) =>
  testWith(...desktopNeeds)(name, run, 60_000);
const hasDesktop = desktopNeeds.every((need) => need === "linux" || Bun.which(need) !== null);

const blocked = (count: number) => ({ phase: "blocked", count }) as const;
const working = { phase: "working", count: 0 } as const;

const sessions = [
  entry("claude:a", "my_web_app  ·  Permission for Bash: npm run build  ·  3 min"),
  entry("claude:b", "infra  ·  Question: Which region?  ·  40 s", {
    children: [
      entry("claude:b focus", "Go to its terminal", { action: { do: "focus", session: "claude:b" } }),
      entry("claude:b mute", "Mute", {
        action: { do: "mute", session: "claude:b", on: true },
        checked: false,
      }),
    ],
  }),
];
const twoBlocked = view(
  blocked(2),
  [
    ...sessions,
    separator("s1"),
    entry("claude:c", "docs  ·  Thinking"),
    separator("s2"),
    entry("quit", "Quit beckon", { action: { do: "quit" } }),
  ],
  {
    title: "beckon: 2 need you, 1 working",
    tooltip: "my_web_app: Permission for <Bash> & more\ninfra: Question",
  },
);

describe("in xfce4-panel", () => {
  let desktop: Desktop;
  let app: TrayApp;

  beforeAll(async () => {
    if (hasDesktop) desktop = await startDesktop({ panel: true });
  });
  afterEach(async () => {
    await app?.kill();
  });
  afterAll(async () => {
    await desktop?.stop();
  });

  async function appWith(first = twoBlocked) {
    app = await startTrayApp(desktop);
    app.show(first);
    await until(() => findBlockedIcon(desktop), 5_000);
    return app;
  }
  const icon = async () => {
    const found = await findBlockedIcon(desktop);
    if (found === null) throw new Error("no icon in the panel");
    return found;
  };
  /** Opens the menu by a right click, returns where its lines are. */
  async function openMenu(button = 3) {
    const all = () => desktop.windows("--name", ".*");
    const before = await all();
    const { x, y } = await icon();
    await desktop.click(x, y, button);
    let area = { x: 0, y: 0, width: 0, height: 0 };
    await until(async () => {
      const fresh = (await all()).filter((id) => !before.includes(id));
      const areas = await Promise.all(fresh.map(desktop.areaOf));
      // GTK has windows of one pixel for its own use.
      area = areas.find(({ width, height }) => width > 100 && height > 50) ?? area;
      return area.width > 0;
    }, 5_000);
    return { area, line: (n: number) => ({ x: area.x + 60, y: area.y + 3 + Math.round(25 * (n + 0.5)) }) };
  }

  testOnDesktop("the icon appears, and the panel knows it by our name on the bus", async () => {
    await appWith();
    const bus = await busOf(desktop);
    expect(await registeredItems(bus)).toEqual([expect.stringMatching(/^:1\.\d+\/StatusNotifierItem$/)]);
    bus.close();
    expect(await icon()).toMatchObject({ y: expect.any(Number) });
    await desktop.screenshot("tray-icon", { x: 1080, y: 0, width: 200, height: 32 });
  });

  testOnDesktop("a click opens the menu, and a click on a line does what it says", async () => {
    await appWith();
    const menu = await openMenu();
    await desktop.screenshot("tray-menu");
    const first = menu.line(0);
    await desktop.click(first.x, first.y);
    expect(await app.next("action")).toEqual({ do: "focus", session: "claude:a" });
    expect(app.told.filter(({ action }) => action)).toEqual([]);
  });

  testOnDesktop(
    "a left click goes to the next who waits; with nobody waiting it opens the menu",
    async () => {
      await appWith();
      const { x, y } = await icon();
      await desktop.click(x, y, 1);
      expect(await app.next("action")).toEqual({ do: "next" });

      app.show({ ...twoBlocked, icon: working });
      await until(async () => (await findBlockedIcon(desktop)) === null, 5_000);
      const before = await desktop.windows("--name", ".*");
      await desktop.click(x, y, 1);
      await until(async () => (await desktop.windows("--name", ".*")).length > before.length, 5_000);
      await desktop.screenshot("tray-menu-working");
      await desktop.key("Escape");
      expect(app.told.filter(({ action }) => action)).toEqual([]);
    },
  );

  testOnDesktop("an open menu follows the state", async () => {
    await appWith();
    const menu = await openMenu();
    const [second, ...others] = twoBlocked.items.slice(1);
    if (second === undefined) throw new Error("no second item");
    app.show({ ...twoBlocked, icon: blocked(1), items: [second, ...others] });
    const bus = await busOf(desktop);
    await until(async () => (await menuLabels(bus))[0]?.startsWith("infra"), 5_000);
    bus.close();
    await until(async () => {
      // Below a separator now, which is one pixel high; before, infra's submenu was there.
      const { x, y } = menu.line(1);
      await desktop.click(x, y);
      return app.told.some(({ action }) => action);
    }, 5_000);
    expect(await app.next("action")).toMatchObject({ do: "focus", session: "claude:c" });
  });

  testOnDesktop("the panel is killed and comes back: so does the icon, within 5 s", async () => {
    await appWith();
    await desktop.killPanel();
    await until(async () => (await findBlockedIcon(desktop)) === null, 5_000);
    await desktop.startPanel();
    expect(await until(() => findBlockedIcon(desktop), 5_000)).toBeLessThan(5_000);
    await desktop.screenshot("tray-panel-back", panelArea);
  });

  testOnDesktop(
    "10,000 views in a few seconds: the last one is shown, nothing queues, memory stays",
    async () => {
      await appWith();
      const many = Array.from({ length: 100 }, (_, n) =>
        view(n % 2 ? blocked(n % 12) : working, [
          ...sessions,
          ...Array.from({ length: n % 20 }, (_, k) => entry(`claude:${n}:${k}`, `session ${k} of ${n}`)),
        ]),
      );
      app.showMany(many, 2_000);
      await app.next("shown", 20_000);
      const before = await app.memory();
      app.showMany(many, 10_000);
      await app.next("shown", 30_000);
      app.show(view(blocked(7), [entry("last", "the_last_one")]));
      const bus = await busOf(desktop);
      const took = await until(async () => (await menuLabels(bus)).join() === "the__last__one", 5_000);
      bus.close();
      expect(took).toBeLessThan(1_000);
      await until(() => findBlockedIcon(desktop), 2_000);
      await desktop.screenshot("tray-after-10000", panelArea);
      expect((await app.memory()) - before).toBeLessThan(20 * 1024 * 1024);
    },
  );

  testOnDesktop("the bus is killed and comes back with the panel: so does the icon, within 5 s", async () => {
    await appWith();
    await desktop.killBus();
    await until(() => app.problems().some((text) => text.includes("session bus is gone")), 5_000);
    // It has nothing to hold on to for a while, and takes views all the same.
    app.showMany([twoBlocked, { ...twoBlocked, icon: working }], 1_000);
    app.show(twoBlocked);
    await desktop.killPanel().catch(() => {});
    await desktop.startBus();
    await desktop.startPanel();
    expect(await until(() => findBlockedIcon(desktop), 5_000)).toBeLessThan(5_000);
    await desktop.screenshot("tray-bus-back", panelArea);
  });

  testOnDesktop("quitting takes the icon away", async () => {
    await appWith();
    expect(await app.quit()).toBe(0);
    await until(async () => (await findBlockedIcon(desktop)) === null, 5_000);
  });
});
