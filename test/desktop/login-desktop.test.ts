/** From login to Quit on a real desktop. */
import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createLinuxLoginItem } from "../../src/desktop/login/linux.ts";
import { isAlive } from "../../src/system/processes.ts";
import { createLaunchHarness, type LaunchHarness, readArguments } from "../hook/launch-harness.ts";
import { hasAll, testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { chooseMenuEntry, connectToBus, readMenuLabels, readRegisteredItems } from "./tray-app.ts";

const needs = [...desktopNeeds, "gio"];
const onDesktop = testWith(...needs);
const limitMs = 60_000;
let desktop: VirtualDesktop;
let fixture: LaunchHarness;

beforeAll(async () => {
  if (!hasAll(needs)) return;
  desktop = await startDesktop({ panel: true, notifications: false });
  const { DISPLAY = "", DBUS_SESSION_BUS_ADDRESS = "" } = desktop.env;
  fixture = createLaunchHarness({ display: DISPLAY }, { DBUS_SESSION_BUS_ADDRESS });
}, limitMs);
afterAll(async () => {
  await fixture?.destroy();
  await desktop?.stop();
});

onDesktop(
  "the icon appears after login, and after Quit no new session brings it back",
  async () => {
    const bus = await connectToBus(desktop);
    const login = createLinuxLoginItem(fixture.env, join(fixture.home, "helpers"));
    await login.enable({ binary, home: null });
    const entry = join(fixture.home, ".config/autostart/beckon.desktop");
    // The app inherits the output of gio and keeps running, so waiting for the end of a pipe would hang.
    const stdio = ["ignore", "ignore", "ignore"] as const;
    expect(await Bun.spawn(["gio", "launch", entry], { env: fixture.env, stdio: [...stdio] }).exited).toBe(0);
    const pid = await fixture.started();
    expect(readArguments(pid).slice(1)).toEqual(["run", "--at-login"]);
    await waitUntil(async () => (await readRegisteredItems(bus)).length === 1, 10_000);
    await waitUntil(async () => (await readMenuLabels(bus)).includes("Quit"), 10_000);
    await desktop.screenshot("login-icon");

    await chooseMenuEntry(bus, "Quit");
    await waitUntil(() => !isAlive(pid, null), 10_000);
    expect(existsSync(fixture.places.offMarker)).toBe(true);
    expect(await fixture.hook(fixture.payload("s"))).toEqual({ stdout: "", stderr: "", code: 0 });
    expect(fixture.apps()).toEqual([]);
    expect(fixture.spool()).toHaveLength(1);
    bus.close();
  },
  limitMs,
);
