/** Connected with a click, and set up with one command, on a real desktop. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Variant } from "@jellybrick/dbus-next";
import type { Bus } from "../../src/desktop/dbus.ts";
import { listOwnHooks } from "../../src/settings-file/hooks.ts";
import { testWith } from "../needs.ts";
import { until } from "../world.ts";
import { busOf, menuLabels, registeredItems } from "./tray-app.ts";
import { type Desktop, desktopNeeds, startDesktop } from "./world.ts";

const onDesktop = testWith(...desktopNeeds, "dbus-monitor");
const limitMs = 90_000;
const soonMs = 15_000;
const connect = "Connect Claude Code…";

type Layout = [number, Record<string, { value: unknown }>, { value: Layout }[]];

/** As the panel does it. */
async function choose(bus: Bus, label: string): Promise<void> {
  const [item = ""] = await registeredItems(bus);
  const menu = { destination: item.split(/@?\//)[0] ?? "", path: "/StatusNotifierItem/Menu" };
  const face = { ...menu, interface: "com.canonical.dbusmenu" };
  const [, root] = await bus.call({ ...face, member: "GetLayout", signature: "iias", body: [0, -1, []] });
  const entries = (root as Layout)[2].map(({ value }) => value);
  const [id] = entries.find(([, properties]) => properties.label?.value === label) ?? [-1];
  const body = [id, "clicked", new Variant("i", 0), 0];
  await bus.call({ ...face, member: "Event", signature: "isvu", body });
}

describe("on a desktop", () => {
  let desktop: Desktop;
  let bus: Bus;
  let heard = "";
  let downloaded = "";
  const at = (...names: string[]) => join(desktop.home, ...names);
  const settings = () => readFileSync(at(".claude", "settings.json"), "utf8");
  const stable = () => at(".local", "bin", "beckon");
  const isRunning = () => existsSync(at(".local", "state", "beckon", "endpoint.json"));

  beforeAll(async () => {
    desktop = await startDesktop({ panel: true, notifications: true });
    desktop.env.BECKON_PORT = String(20_000 + Math.floor(Math.random() * 40_000));
    bus = await busOf(desktop);
    mkdirSync(at("Downloads"));
    downloaded = at("Downloads", "beckon");
    copyFileSync(join(import.meta.dir, "../../dist/beckon"), downloaded);
    mkdirSync(at(".claude"));
    writeFileSync(at(".claude", "settings.json"), '{"model":"opus"}');
    const monitor = desktop.spawn(["dbus-monitor", "interface='org.freedesktop.Notifications'"]);
    (async () => {
      for await (const chunk of monitor.stdout) heard += new TextDecoder().decode(chunk);
    })();
  }, limitMs);
  afterAll(async () => {
    await desktop?.run(downloaded, "stop").catch(() => {});
    bus?.close();
    await desktop?.stop();
  });

  onDesktop(
    "a click on “Connect Claude Code…” registers the hooks, says so, and is no longer offered",
    async () => {
      const app = desktop.spawn([downloaded]);
      await until(async () => isRunning() && (await registeredItems(bus)).length > 0, soonMs);
      await until(async () => (await menuLabels(bus)).includes(connect), soonMs);
      await choose(bus, connect);
      await until(() => listOwnHooks(settings()).length > 5, soonMs);
      await until(() => heard.includes("Claude Code is connected"), soonMs);
      expect(heard).toContain("hooks are registered in ~/.claude/settings.json.");
      await until(async () => (await desktop.windows("--class", "xfce4-notifyd")).length > 0, soonMs);
      await desktop.screenshot("install-connected");
      await until(async () => !(await menuLabels(bus)).includes(connect), soonMs);
      expect(JSON.parse(settings()).model).toBe("opus");
      expect(existsSync(stable())).toBe(true);
      // A click is about the hooks alone.
      expect(existsSync(at(".config", "autostart"))).toBe(false);

      await desktop.run(downloaded, "--uninstall");
      await app.exited;
      expect(settings()).toBe('{"model":"opus"}');
    },
    limitMs,
  );

  onDesktop(
    "a click that cannot be followed says why, and changes nothing",
    async () => {
      writeFileSync(at(".claude", "settings.json"), "{ broken");
      const app = desktop.spawn([downloaded]);
      await until(async () => isRunning() && (await registeredItems(bus)).length > 0, soonMs);
      await until(async () => (await menuLabels(bus)).includes(connect), soonMs);
      await choose(bus, connect);
      await until(() => heard.includes("Claude Code could not be connected"), soonMs);
      expect(heard).toContain("settings.json, line 1, column 3");
      expect(settings()).toBe("{ broken");
      writeFileSync(at(".claude", "settings.json"), '{"model":"opus"}');
      app.kill("SIGTERM");
      await app.exited;
    },
    limitMs,
  );

  onDesktop(
    "one command sets up everything: hooks, login, and the app with its icon; another takes it away",
    async () => {
      const said = await desktop.run(downloaded, "--install");
      expect(said).toContain("beckon starts when you log in");
      expect(said).toContain("beckon is running now");
      expect(readFileSync(at(".config", "autostart", "beckon.desktop"), "utf8")).toContain(stable());
      await until(async () => (await registeredItems(bus)).length > 0, soonMs);
      await desktop.screenshot("install-started");
      const { pid } = JSON.parse(readFileSync(at(".local", "state", "beckon", "endpoint.json"), "utf8"));

      const again = await desktop.run(stable(), "--install");
      expect(again).toStartWith("Everything is in place already.");
      expect(again).toContain(`beckon is running (pid ${pid}).`);

      const off = await desktop.run(stable(), "--install", "--no-login");
      expect(off).toContain("beckon no longer starts when you log in");
      expect(existsSync(at(".config", "autostart"))).toBe(false);

      const gone = await desktop.run(stable(), "--uninstall", "--purge");
      expect(gone).toStartWith("Stopped beckon.");
      expect(existsSync(at(".local", "state", "beckon"))).toBe(false);
      expect(existsSync(stable())).toBe(false);
      expect(settings()).toBe('{"model":"opus"}');
    },
    limitMs,
  );
});
