/** From login to Quit on a real desktop. */
import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createLinuxLoginItem } from "../../src/desktop/login/linux.ts";
import { isAlive } from "../../src/system/processes.ts";
import { binary, createLaunchHarness, type LaunchHarness, readArguments } from "../hook/launch-harness.ts";
import { hasAll, testWith } from "../needs.ts";
import { until } from "../world.ts";
import { type Desktop, desktopNeeds, startDesktop } from "./desktop-harness.ts";
import { chooseMenuEntry, connectToBus, readMenuLabels, readRegisteredItems } from "./tray-app.ts";

const needs = [...desktopNeeds, "gio"];
const onDesktop = testWith(...needs);
const limitMs = 60_000;
let desktop: Desktop;
let world: LaunchHarness;

beforeAll(async () => {
  if (!hasAll(needs)) return;
  desktop = await startDesktop({ panel: true, notifications: false });
  const { DISPLAY = "", DBUS_SESSION_BUS_ADDRESS = "" } = desktop.env;
  world = createLaunchHarness({ display: DISPLAY }, { DBUS_SESSION_BUS_ADDRESS });
}, limitMs);
afterAll(async () => {
  await world?.destroy();
  await desktop?.stop();
});

onDesktop(
  "the icon appears after login, and after Quit no new session brings it back",
  async () => {
    const bus = await connectToBus(desktop);
    const login = createLinuxLoginItem(world.env, join(world.home, "helpers"));
    await login.enable({ binary, home: null });
    const entry = join(world.home, ".config/autostart/beckon.desktop");
    // The app inherits the output of gio and keeps running, so waiting for the end of a pipe would hang.
    const stdio = ["ignore", "ignore", "ignore"] as const;
    expect(await Bun.spawn(["gio", "launch", entry], { env: world.env, stdio: [...stdio] }).exited).toBe(0);
    const pid = await world.started();
    expect(readArguments(pid).slice(1)).toEqual(["run", "--at-login"]);
    await until(async () => (await readRegisteredItems(bus)).length === 1, 10_000);
    await until(async () => (await readMenuLabels(bus)).includes("Quit"), 10_000);
    await desktop.screenshot("login-icon");

    await chooseMenuEntry(bus, "Quit");
    await until(() => !isAlive(pid, null), 10_000);
    expect(existsSync(world.places.offMarker)).toBe(true);
    expect(await world.hook(world.payload("s"))).toEqual({ stdout: "", stderr: "", code: 0 });
    expect(world.apps()).toEqual([]);
    expect(world.spool()).toHaveLength(1);
    bus.close();
  },
  limitMs,
);
