/** Whether the user is at the desk, as each system reports it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Exec } from "../../src/core/ports.ts";
import { createLinuxPresence } from "../../src/desktop/presence/linux.ts";
import { createMacPresence } from "../../src/desktop/presence/macos.ts";
import { exec } from "../../src/system/exec.ts";
import { hasAll, testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";

describe("on an X11 desktop", () => {
  let desktop: VirtualDesktop;
  beforeAll(async () => {
    if (hasAll(desktopNeeds)) desktop = await startDesktop();
  });
  afterAll(() => desktop?.stop());

  testWith(...desktopNeeds)("the idle time grows without input, and a key ends it", async () => {
    const readPresence = createLinuxPresence({ env: desktop.env, exec });
    const idleMs = async () => (await readPresence()).idleMs ?? Number.NaN;
    await waitUntil(async () => (await idleMs()) > 1_000, 10_000);
    await desktop.run("xdotool", "key", "shift");
    expect(await idleMs()).toBeLessThan(1_000);
    expect((await readPresence()).isLocked).not.toBe(true);
  });
});

test("without a display, a bus and a login session, nothing is known", async () => {
  const readPresence = createLinuxPresence({ env: {}, exec });
  expect(await readPresence()).toEqual({ idleMs: null, isLocked: null });
});

test.each([
  ["LockedHint=yes\n", 0, true],
  ["LockedHint=no\n", 0, false],
  ["", 1, null],
])("logind answering %j means locked: %p", async (stdout, code, isLocked) => {
  const fake: Exec = async () => ({ code, stdout, stderr: "" });
  const readPresence = createLinuxPresence({ env: { XDG_SESSION_ID: "3" }, exec: fake });
  expect(await readPresence()).toEqual({ idleMs: null, isLocked });
});

test.each([
  ["unlocked", '"IOConsoleUsers" = ({"kCGSSessionUserNameKey"="ann"})', false],
  ["locked", '"IOConsoleUsers" = ({"CGSSessionScreenIsLocked"=Yes,"kCGSSessionUserNameKey"="ann"})', true],
])("macOS reports input 12 s ago, %s", async (_, users, isLocked) => {
  const hid = '    | |   "HIDIdleTime" = 12345678901\n';
  const fake: Exec = async (argv) => {
    return { code: 0, stdout: argv.includes("IOHIDSystem") ? hid : users, stderr: "" };
  };
  expect(await createMacPresence({ exec: fake })()).toEqual({ idleMs: 12_345, isLocked });
});
