/** Whether the user is at the desk, as each system reports it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Message } from "@jellybrick/dbus-next";
import type { Exec } from "../../src/core/interfaces/index.ts";
import { createLinuxPresence } from "../../src/desktop/presence/linux.ts";
import { createMacPresence } from "../../src/desktop/presence/macos.ts";
import { exec } from "../../src/system/exec.ts";
import { hasAll, testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { type PrivateBus, startBus } from "./private-bus.ts";

const busNeeds = ["linux", "dbus-daemon", "setpriv"] as const;

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

describe("services on the session bus, imitated on a private one", () => {
  let bus: PrivateBus;
  beforeAll(async () => {
    if (hasAll(busNeeds)) bus = await startBus();
  });
  afterAll(() => bus?.stop());

  type Answers = Readonly<Record<string, readonly [signature: string, value: unknown]>>;

  /** Owns the name and answers these members, whatever their interface is. */
  async function imitate(name: string, answers: Answers): Promise<() => void> {
    const connection = await bus.connect();
    connection.addMethodHandler((message) => {
      const answer = answers[`${message.interface} ${message.member}`];
      if (!answer) return false;
      connection.send(Message.newMethodReturn(message, answer[0], [answer[1]]));
      return true;
    });
    await connection.requestName(name, 0);
    return () => connection.disconnect();
  }

  const read = () => createLinuxPresence({ env: bus.env, exec })();

  testWith(...busNeeds)("GNOME: the idle monitor and the screen saver", async () => {
    const idle: Answers = { "org.gnome.Mutter.IdleMonitor GetIdletime": ["t", 61_000n] };
    const stops = [
      await imitate("org.gnome.Mutter.IdleMonitor", idle),
      await imitate("org.gnome.ScreenSaver", { "org.gnome.ScreenSaver GetActive": ["b", true] }),
    ];
    expect(await read()).toEqual({ idleMs: 61_000, isLocked: true });
    for (const stop of stops) stop();
  });

  testWith(...busNeeds)("KDE: the screen saver service has both", async () => {
    const stops = [
      await imitate("org.kde.screensaver", {
        "org.freedesktop.ScreenSaver GetSessionIdleTime": ["u", 7_000],
      }),
      await imitate("org.freedesktop.ScreenSaver", { "org.freedesktop.ScreenSaver GetActive": ["b", false] }),
    ];
    expect(await read()).toEqual({ idleMs: 7_000, isLocked: false });
    for (const stop of stops) stop();
  });

  testWith(...busNeeds)("KDE under Wayland answers 0: the idle time is unknown", async () => {
    const stop = await imitate("org.kde.screensaver", {
      "org.freedesktop.ScreenSaver GetSessionIdleTime": ["u", 0],
    });
    expect(await read()).toEqual({ idleMs: null, isLocked: null });
    stop();
  });

  testWith(...busNeeds)("a service that does not answer is unknown, and takes no second", async () => {
    const stop = await imitate("org.gnome.ScreenSaver", {});
    const hanging = await bus.connect();
    hanging.addMethodHandler(() => true);
    await hanging.requestName("org.gnome.Mutter.IdleMonitor", 0);
    const started = performance.now();
    expect(await read()).toEqual({ idleMs: null, isLocked: null });
    expect(performance.now() - started).toBeLessThan(1_000);
    stop();
    hanging.disconnect();
  });
});
