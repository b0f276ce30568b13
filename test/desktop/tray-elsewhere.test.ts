/** Desktops where no panel takes a StatusNotifierItem: an XEmbed tray, a late panel, or no desktop at all. */
import { afterEach, expect } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { connectX11 } from "../../src/desktop/x11.ts";
import { compileEntry } from "../bench/processes.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { entry, findBlockedIcon, startTrayApp, type TrayApp, view } from "./tray-app.ts";

/** If a test times out, bun kills the programs of all tests in this file. */
const testMs = 90_000;
const waitMs = 20_000;

let desktop: VirtualDesktop;
let app: TrayApp;

afterEach(async () => {
  await app?.kill();
  await desktop?.stop();
});

const blocked = view({ phase: "blocked", count: 3 }, [
  entry("claude:a", "my_web_app  ·  Permission for Bash  ·  3 min"),
  entry("claude:b", "infra", { children: [entry("claude:b focus", "Go to its terminal")] }),
  entry("quit", "Quit beckon", { action: { do: "quit" } }),
]);

const startTrayer = () =>
  desktop.spawn([
    ...["trayer", "--edge", "top", "--align", "right", "--height", "32", "--widthtype", "request"],
    ...["--tint", "0x353535", "--alpha", "0", "--transparent", "true"],
  ]);
const findHelpers = async () =>
  (await desktop.run("ps", "-eo", "pid,ppid,args"))
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , path]) => path?.startsWith(desktop.home) && path.endsWith("tray_linux_release"));

async function hasXembedTray(): Promise<boolean> {
  const x = await connectX11(desktop.env, 1_000);
  const owner = await x.findSelectionOwner("_NET_SYSTEM_TRAY_S0");
  x.close();
  return owner !== 0;
}

async function clickFirstEntry(): Promise<void> {
  const at = await findBlockedIcon(desktop);
  if (at === null) throw new Error("no icon");
  await desktop.click(at.x, at.y);
  await waitUntil(async () => {
    const windows = await desktop.windows("--name", ".*");
    const areas = await Promise.all(windows.map(desktop.areaOf));
    const menu = areas.find(({ width, height }) => width > 100 && height > 50 && height < 300);
    if (menu === undefined) return false;
    await desktop.screenshot("tray-xembed");
    await desktop.click(menu.x + 60, menu.y + 15);
    return true;
  }, waitMs);
}

testWith(...desktopNeeds, "trayer")(
  "with an XEmbed tray and no panel, systray2's helper shows the icon, and is restarted when it dies",
  async () => {
    desktop = await startDesktop();
    startTrayer();
    app = await startTrayApp(desktop);
    app.show(blocked);
    await waitUntil(() => findBlockedIcon(desktop), waitMs);
    await clickFirstEntry();
    expect(await app.next("action")).toEqual({ do: "focus", session: "claude:a" });

    const unpacked = join(desktop.home, "folder/systray2/2.1.4/tray_linux_release");
    expect(statSync(unpacked).mode & 0o777).toBe(0o700);
    const [[pid] = []] = await findHelpers();
    await desktop.run("kill", "-9", pid ?? "");
    await waitUntil(async () => (await findBlockedIcon(desktop)) === null, waitMs);
    await waitUntil(() => findBlockedIcon(desktop), waitMs);
    await desktop.screenshot("tray-helper-back", { x: 1080, y: 0, width: 200, height: 32 });
    expect(app.problems()).toEqual([
      expect.stringMatching(/^systray2.s helper ended \(.+\); beckon starts it again in 1 s$/),
    ]);

    // A panel starts and takes over, and the helper ends.
    await desktop.startPanel();
    await waitUntil(async () => (await findHelpers()).length === 0, waitMs);
    await waitUntil(() => findBlockedIcon(desktop), waitMs);
  },
  testMs,
);

testWith(...desktopNeeds, "trayer")(
  "the helper ends when beckon is killed",
  async () => {
    desktop = await startDesktop();
    startTrayer();
    app = await startTrayApp(desktop);
    app.show(blocked);
    await waitUntil(() => findBlockedIcon(desktop), waitMs);
    await app.kill();
    await waitUntil(async () => (await findHelpers()).length === 0, waitMs);
  },
  testMs,
);

testWith(...desktopNeeds, "trayer")(
  "the helper's icon files are gone after quitting, and those of a killed beckon after the next start",
  async () => {
    desktop = await startDesktop();
    startTrayer();
    const temporary = join(desktop.home, "temporary");
    const icons = join(desktop.home, "folder/systray2/2.1.4/icons");
    mkdirSync(temporary);
    const start = async () => {
      app = await startTrayApp(desktop, { env: { TMPDIR: temporary } });
      app.show(blocked);
      await waitUntil(() => findBlockedIcon(desktop), waitMs);
    };
    await start();
    await app.kill();
    const [left = ""] = readdirSync(icons);
    expect(left).toStartWith("systray_");

    await start();
    expect(readdirSync(icons)).toHaveLength(1);
    expect(readdirSync(icons)).not.toContain(left);
    await app.quit();
    expect(readdirSync(icons)).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  },
  testMs,
);

testWith(...desktopNeeds, "trayer")(
  "an XEmbed tray is enough, without a session bus",
  async () => {
    desktop = await startDesktop();
    await desktop.killBus();
    startTrayer();
    await waitUntil(hasXembedTray, waitMs);
    app = await startTrayApp(desktop);
    expect(app.isOpen).toBe(true);
    app.show(blocked);
    await waitUntil(() => findBlockedIcon(desktop), waitMs);
  },
  testMs,
);

testWith(...desktopNeeds)(
  "a missing panel is reported once, and the icon appears with the panel",
  async () => {
    desktop = await startDesktop();
    app = await startTrayApp(desktop);
    app.show(blocked);
    expect(app.isOpen).toBe(true);
    expect(await app.next("problem")).toMatch(/^no tray icon: .*beckon goes on without it\.$/);
    await desktop.startPanel();
    await waitUntil(() => findBlockedIcon(desktop), waitMs);
    expect(app.problems()).toEqual([]);
  },
  testMs,
);

testWith(...desktopNeeds)(
  "a missing session bus is reported once, and the icon appears with bus and panel",
  async () => {
    desktop = await startDesktop();
    await desktop.killBus();
    app = await startTrayApp(desktop);
    expect(app.isOpen).toBe(true);
    app.show(blocked);
    expect(await app.next("problem")).toMatch(/^no tray icon: the session bus does not answer\./);
    await desktop.startBus();
    await desktop.startPanel();
    await waitUntil(() => findBlockedIcon(desktop), waitMs);
    expect(app.problems()).toEqual([]);
  },
  testMs,
);

testWith(...desktopNeeds)(
  "without a desktop there is no tray, and one message",
  async () => {
    desktop = await startDesktop();
    app = await startTrayApp(desktop, {
      env: { DISPLAY: "", DBUS_SESSION_BUS_ADDRESS: "", XDG_RUNTIME_DIR: "" },
    });
    expect(app.isOpen).toBe(false);
    expect(app.problems()).toEqual([expect.stringMatching(/^no tray icon: .*beckon goes on without it\.$/)]);
    expect(await app.quit()).toBe(0);
  },
  testMs,
);

testWith(...desktopNeeds, "trayer")(
  "icon and helper work in a compiled and minified program",
  async () => {
    desktop = await startDesktop({ panel: true });
    const outfile = join(desktop.home, "tray-program");
    await compileEntry(join(import.meta.dir, "../fixtures/tray-program.ts"), outfile);
    app = await startTrayApp(desktop, { command: [outfile] });
    app.show(blocked);
    await waitUntil(() => findBlockedIcon(desktop), waitMs);
    expect(existsSync(join(desktop.home, "folder"))).toBe(false);

    await desktop.killPanel();
    startTrayer();
    await waitUntil(async () => (await findHelpers()).length === 1, waitMs);
    await waitUntil(() => findBlockedIcon(desktop), waitMs);
  },
  testMs,
);
