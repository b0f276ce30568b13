/** Connecting an agent with a click, and installing with one command, on a real desktop. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bus } from "../../src/desktop/dbus.ts";
import { listOwnHooks } from "../../src/user-files/hooks.ts";
import { testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { chooseMenuEntry, connectToBus, readMenuLabels, readRegisteredItems } from "./tray-app.ts";

const onDesktop = testWith(...desktopNeeds, "dbus-monitor");
const limitMs = 90_000;
const soonMs = 15_000;
const connect = "Connect Claude Code…";

describe("on a desktop", () => {
  let desktop: VirtualDesktop;
  let bus: Bus;
  let traffic = "";
  let downloaded = "";
  const inHome = (...names: string[]) => join(desktop.home, ...names);
  const settings = () => readFileSync(inHome(".claude", "settings.json"), "utf8");
  const installedBinary = () => inHome(".local", "bin", "beckon");
  const isRunning = () => existsSync(inHome(".local", "state", "beckon", "endpoint.json"));

  beforeAll(async () => {
    desktop = await startDesktop({ panel: true, notifications: true });
    desktop.env.BECKON_PORT = String(20_000 + Math.floor(Math.random() * 40_000));
    bus = await connectToBus(desktop);
    mkdirSync(inHome("Downloads"));
    downloaded = inHome("Downloads", "beckon");
    copyFileSync(binary, downloaded);
    mkdirSync(inHome(".claude"));
    writeFileSync(inHome(".claude", "settings.json"), '{"model":"opus"}');
    const monitor = desktop.spawn(["dbus-monitor", "interface='org.freedesktop.Notifications'"]);
    (async () => {
      for await (const chunk of monitor.stdout) traffic += new TextDecoder().decode(chunk);
    })();
  }, limitMs);
  afterAll(async () => {
    await desktop?.run(downloaded, "stop").catch(() => {});
    bus?.close();
    await desktop?.stop();
  });

  onDesktop(
    "a click on “Connect Claude Code…” registers the hooks and reports it, and the entry disappears",
    async () => {
      const app = desktop.spawn([downloaded]);
      await waitUntil(async () => isRunning() && (await readRegisteredItems(bus)).length > 0, soonMs);
      await waitUntil(async () => (await readMenuLabels(bus)).includes(connect), soonMs);
      await chooseMenuEntry(bus, connect);
      await waitUntil(() => listOwnHooks(settings()).length > 5, soonMs);
      await waitUntil(() => traffic.includes("Claude Code is connected"), soonMs);
      expect(traffic).toContain("hooks are registered in ~/.claude/settings.json.");
      await waitUntil(async () => (await desktop.windows("--class", "xfce4-notifyd")).length > 0, soonMs);
      await desktop.screenshot("install-connected");
      await waitUntil(async () => !(await readMenuLabels(bus)).includes(connect), soonMs);
      expect(JSON.parse(settings()).model).toBe("opus");
      expect(existsSync(installedBinary())).toBe(true);
      // The click registers hooks, and no login item.
      expect(existsSync(inHome(".config", "autostart"))).toBe(false);

      await desktop.run(downloaded, "--uninstall");
      await app.exited;
      expect(settings()).toBe('{"model":"opus"}');
    },
    limitMs,
  );

  onDesktop(
    "a click that fails reports why, and changes nothing",
    async () => {
      writeFileSync(inHome(".claude", "settings.json"), "{ broken");
      const app = desktop.spawn([downloaded]);
      await waitUntil(async () => isRunning() && (await readRegisteredItems(bus)).length > 0, soonMs);
      await waitUntil(async () => (await readMenuLabels(bus)).includes(connect), soonMs);
      await chooseMenuEntry(bus, connect);
      await waitUntil(() => traffic.includes("Claude Code could not be connected"), soonMs);
      expect(traffic).toContain("settings.json, line 1, column 3");
      expect(settings()).toBe("{ broken");
      writeFileSync(inHome(".claude", "settings.json"), '{"model":"opus"}');
      app.kill("SIGTERM");
      await app.exited;
    },
    limitMs,
  );

  onDesktop(
    "--install sets up hooks, login and the app with its icon, and --uninstall removes them",
    async () => {
      const output = await desktop.run(downloaded, "--install");
      expect(output).toContain("beckon starts when you log in");
      expect(output).toContain("beckon is running now");
      expect(readFileSync(inHome(".config", "autostart", "beckon.desktop"), "utf8")).toContain(
        installedBinary(),
      );
      await waitUntil(async () => (await readRegisteredItems(bus)).length > 0, soonMs);
      await desktop.screenshot("install-started");
      const { pid } = JSON.parse(readFileSync(inHome(".local", "state", "beckon", "endpoint.json"), "utf8"));

      const again = await desktop.run(installedBinary(), "--install");
      expect(again).toStartWith("Everything is in place already.");
      expect(again).toContain(`beckon is running (pid ${pid}).`);

      const off = await desktop.run(installedBinary(), "--install", "--no-login");
      expect(off).toContain("beckon no longer starts when you log in");
      expect(existsSync(inHome(".config", "autostart"))).toBe(false);

      const removed = await desktop.run(installedBinary(), "--uninstall", "--purge");
      expect(removed).toStartWith("Stopped beckon.");
      expect(existsSync(inHome(".local", "state", "beckon"))).toBe(false);
      expect(existsSync(installedBinary())).toBe(false);
      expect(settings()).toBe('{"model":"opus"}');
    },
    limitMs,
  );
});
