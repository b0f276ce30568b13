import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import {
  connectToBus,
  entry,
  findBlockedIcon,
  panelArea,
  readMenuLabels,
  readRegisteredItems,
  separator,
  startTrayApp,
  type TrayApp,
  view,
} from "./tray-app.ts";

/** If a test times out, bun kills the whole desktop of this file. */
const testOnDesktop = (name: string, run: () => Promise<void>) =>
  testWith(...desktopNeeds)(name, run, 90_000);
const waitMs = 20_000;
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
  let desktop: VirtualDesktop;
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

  async function startWith(first = twoBlocked) {
    app = await startTrayApp(desktop);
    app.show(first);
    await waitUntil(() => findBlockedIcon(desktop), waitMs);
    return app;
  }
  const findIcon = async () => {
    const icon = await findBlockedIcon(desktop);
    if (icon === null) throw new Error("no icon in the panel");
    return icon;
  };
  /** Opens the menu and returns where its rows are. */
  async function openMenu(button = 3) {
    const listWindows = () => desktop.windows("--name", ".*");
    const before = await listWindows();
    const { x, y } = await findIcon();
    await desktop.click(x, y, button);
    let area = { x: 0, y: 0, width: 0, height: 0 };
    await waitUntil(async () => {
      const opened = (await listWindows()).filter((id) => !before.includes(id));
      const areas = await Promise.all(opened.map(desktop.areaOf));
      // GTK has windows of one pixel.
      area = areas.find(({ width, height }) => width > 100 && height > 50) ?? area;
      return area.width > 0;
    }, waitMs);
    return { area, row: (n: number) => ({ x: area.x + 60, y: area.y + 3 + Math.round(25 * (n + 0.5)) }) };
  }

  testOnDesktop("the icon appears, and the panel has it by our name on the bus", async () => {
    await startWith();
    const bus = await connectToBus(desktop);
    expect(await readRegisteredItems(bus)).toEqual([expect.stringMatching(/^:1\.\d+\/StatusNotifierItem$/)]);
    bus.close();
    expect(await findIcon()).toMatchObject({ y: expect.any(Number) });
    await desktop.screenshot("tray-icon", { x: 1080, y: 0, width: 200, height: 32 });
  });

  testOnDesktop("a click opens the menu, and a click on an entry does what it says", async () => {
    await startWith();
    const menu = await openMenu();
    await desktop.screenshot("tray-menu");
    const first = menu.row(0);
    await desktop.click(first.x, first.y);
    expect(await app.next("action")).toEqual({ do: "focus", session: "claude:a" });
    expect(app.messages.filter(({ action }) => action)).toEqual([]);
  });

  testOnDesktop("a left click opens the menu, a middle click goes to the next blocked session", async () => {
    await startWith();
    const menu = await openMenu(1);
    const first = menu.row(0);
    await desktop.click(first.x, first.y);
    expect(await app.next("action")).toEqual({ do: "focus", session: "claude:a" });
    const { x, y } = await findIcon();
    await desktop.click(x, y, 2);
    expect(await app.next("action")).toEqual({ do: "next" });
    expect(app.messages.filter(({ action }) => action)).toEqual([]);
  });

  testOnDesktop(
    "with nextWaiting a left click goes to the next blocked session, or opens the menu if there is none",
    async () => {
      const leftClick = "nextWaiting";
      await startWith({ ...twoBlocked, leftClick });
      const { x, y } = await findIcon();
      await desktop.click(x, y, 1);
      expect(await app.next("action")).toEqual({ do: "next" });

      app.show({ ...twoBlocked, icon: working, leftClick });
      await waitUntil(async () => (await findBlockedIcon(desktop)) === null, waitMs);
      const before = await desktop.windows("--name", ".*");
      await desktop.click(x, y, 1);
      await waitUntil(async () => (await desktop.windows("--name", ".*")).length > before.length, waitMs);
      await desktop.key("Escape");
      expect(app.messages.filter(({ action }) => action)).toEqual([]);
    },
  );

  testOnDesktop("an open menu follows the state", async () => {
    await startWith();
    const menu = await openMenu();
    const [second, ...others] = twoBlocked.items.slice(1);
    if (second === undefined) throw new Error("no second item");
    app.show({ ...twoBlocked, icon: blocked(1), items: [second, ...others] });
    const bus = await connectToBus(desktop);
    await waitUntil(async () => (await readMenuLabels(bus))[0]?.startsWith("infra"), waitMs);
    bus.close();
    await waitUntil(async () => {
      // The row moved below a separator of one pixel, where the submenu of infra was.
      const { x, y } = menu.row(1);
      await desktop.click(x, y);
      return app.messages.some(({ action }) => action);
    }, waitMs);
    expect(await app.next("action")).toMatchObject({ do: "focus", session: "claude:c" });
  });

  testOnDesktop("the icon comes back after a restart of the panel", async () => {
    await startWith();
    await desktop.killPanel();
    await waitUntil(async () => (await findBlockedIcon(desktop)) === null, waitMs);
    await desktop.startPanel();
    await waitUntil(() => findBlockedIcon(desktop), waitMs);
    await desktop.screenshot("tray-panel-back", panelArea);
  });

  testOnDesktop(
    "of 10,000 views in a few seconds the last one is shown, and memory does not grow",
    async () => {
      await startWith();
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
      const bus = await connectToBus(desktop);
      await waitUntil(async () => (await readMenuLabels(bus)).join() === "the__last__one", waitMs);
      bus.close();
      await waitUntil(() => findBlockedIcon(desktop), waitMs);
      await desktop.screenshot("tray-after-10000", panelArea);
      expect((await app.memory()) - before).toBeLessThan(20 * 1024 * 1024);
    },
  );

  testOnDesktop("the icon comes back after a restart of the session bus and the panel", async () => {
    await startWith();
    await desktop.killBus();
    await waitUntil(() => app.problems().some((text) => text.includes("session bus is gone")), waitMs);
    // Views can be shown while there is no bus.
    app.showMany([twoBlocked, { ...twoBlocked, icon: working }], 1_000);
    app.show(twoBlocked);
    await desktop.killPanel().catch(() => {});
    await desktop.startBus();
    await desktop.startPanel();
    await waitUntil(() => findBlockedIcon(desktop), waitMs);
    await desktop.screenshot("tray-bus-back", panelArea);
  });

  testOnDesktop("quitting removes the icon", async () => {
    await startWith();
    expect(await app.quit()).toBe(0);
    await waitUntil(async () => (await findBlockedIcon(desktop)) === null, waitMs);
  });
});
