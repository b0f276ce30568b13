import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAlertReconciler } from "../../src/alerts/reconcile.ts";
import type { Notifier } from "../../src/core/interfaces/index.ts";
import { openFreedesktopNotifier } from "../../src/desktop/notify/freedesktop.ts";
import { openNotifySend } from "../../src/desktop/notify/notify-send.ts";
import { schedule } from "../../src/system/schedule.ts";
import { hasAll, testWith } from "../needs.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { type Area, desktopNeeds, notifyd, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { alert, recordEvents } from "./notify-fixtures.ts";

const name = "org.freedesktop.Notifications";
const needs = [...desktopNeeds, notifyd, "dbus-monitor", "gdbus"] as const;
const onDesktop = testWith(...needs);
const hasDesktop = hasAll(needs);

let desktop: VirtualDesktop;
const { events, problems, options } = recordEvents(() => desktop.home);
const notifiers: Notifier[] = [];

beforeAll(async () => {
  if (!hasDesktop) return;
  desktop = await startDesktop({ notifications: true });
  // If several notification servers are installed, the bus starts the one that the user's own folder names.
  const services = join(desktop.home, ".local/share/dbus-1/services");
  mkdirSync(services, { recursive: true });
  writeFileSync(join(services, "notifications.service"), `[D-BUS Service]\nName=${name}\nExec=${notifyd}\n`);
  await desktop.run(
    ...[
      "gdbus",
      "call",
      "--session",
      "--dest",
      "org.freedesktop.DBus",
      "--object-path",
      "/org/freedesktop/DBus",
    ],
    ...["--method", "org.freedesktop.DBus.ReloadConfig"],
  );
}, 30_000);
afterEach(async () => {
  await Promise.all(notifiers.splice(0).map((notifier) => notifier.stop()));
  if (hasDesktop) await waitUntil(async () => (await findNotifications()).length === 0, 15_000);
});
afterAll(async () => {
  if (hasDesktop) await desktop.stop();
});

async function open(by: typeof openFreedesktopNotifier = openFreedesktopNotifier): Promise<Notifier> {
  const notifier = await by(options(), desktop.env);
  if (notifier === null) throw new Error("no notifier");
  notifiers.push(notifier);
  return notifier;
}

const findNotifications = () => desktop.findNotifications();
async function waitForOnly(): Promise<Area> {
  await waitUntil(async () => (await findNotifications()).length === 1, 15_000);
  const [area] = await findNotifications();
  if (area === undefined) throw new Error("the notification is gone");
  return area;
}
const clickButton = ({ x, y, width, height }: Area) => desktop.click(x + width - 60, y + height - 30);
/** Notifications fade in, and are drawn a little after their window appears. */
const takeStablePicture = async (area: Area, name: string): Promise<Buffer> => {
  let before = Buffer.alloc(0);
  let now = Buffer.alloc(0);
  await waitUntil(async () => {
    before = now;
    await letTimePass(100, "two pictures are compared, and a fade changes slowly");
    now = readFileSync(await desktop.screenshot(name, area));
    return now.equals(before);
  }, 15_000);
  return now;
};
const waitForEvent = (text: string) => waitUntil(() => events.includes(text), 10_000);

onDesktop(
  "a notification is on the screen, and a click on its button is reported",
  async () => {
    const monitor = desktop.spawn(["dbus-monitor", "--session", `interface=${name}`]);
    let traffic = "";
    void (async () => {
      for await (const chunk of monitor.stdout) traffic += new TextDecoder().decode(chunk);
    })();
    await waitUntil(() => traffic.includes("NameAcquired") || traffic.includes("NameLost"), 15_000);
    const notifier = await open();
    await notifier.show(alert());
    const area = await waitForOnly();
    await waitUntil(() => traffic.includes("member=Notify"), 15_000);
    expect(traffic).toContain('string "checkout-api wants to run a command"');
    expect(traffic).toContain('string "rm -rf node_modules &amp;&amp; npm ci &lt;now&gt;\nmain · tmux"');
    await takeStablePicture(area, "notification-blocked");
    await clickButton(area);
    await waitForEvent("closed ask-1 user");
    expect(events).toEqual(["click ask-1", "closed ask-1 user"]);
    await waitUntil(async () => (await findNotifications()).length === 0, 15_000);
    monitor.kill();
  },
  30_000,
);

onDesktop(
  "closing an alert removes its notification from the screen",
  async () => {
    const notifier = await open();
    await notifier.show(alert());
    await notifier.show(alert({ key: "ask-2", title: "another" }));
    await waitUntil(async () => (await findNotifications()).length === 2, 15_000);
    await notifier.close("ask-1");
    await waitUntil(async () => (await findNotifications()).length === 1, 15_000);
    await notifier.close("ask-2");
    await waitUntil(async () => (await findNotifications()).length === 0, 15_000);
    expect(events).toEqual([]);
  },
  30_000,
);

onDesktop(
  "an update is shown in the same place",
  async () => {
    const notifier = await open();
    const handle = await notifier.show(alert({ title: "AAAAAAAAAAAA" }));
    const before = await waitForOnly();
    const first = await takeStablePicture(before, "notification-before");
    expect(await notifier.show(alert({ title: "BBBBBBBBBBBB" }))).toBe(handle);
    await waitUntil(
      async () => !readFileSync(await desktop.screenshot("notification-after", before)).equals(first),
      5_000,
    );
    const after = await waitForOnly();
    expect(after.y).toBe(before.y);
    expect(after.x + after.width).toBe(before.x + before.width);
  },
  30_000,
);

onDesktop(
  "a notification that the user closes is reported as closed by the user",
  async () => {
    const notifier = await open();
    await notifier.show(alert());
    const { x, y } = await waitForOnly();
    // A click beside the text closes it in xfce4-notifyd.
    await desktop.click(x + 40, y + 100);
    await waitForEvent("closed ask-1 user");
    expect(events).toEqual(["closed ask-1 user"]);
  },
  30_000,
);

onDesktop(
  "a quiet alert expires",
  async () => {
    await xfconf("SetProperty", "xfce4-notifyd", "/expire-timeout", "<int32 1>");
    const notifier = await open();
    await notifier.show(alert({ kind: "idle", urgency: "low", sound: false }));
    await notifier.show(alert({ key: "ask-2" }));
    await waitForEvent("closed ask-1 expired");
    expect((await findNotifications()).length).toBe(1);
    expect(events).toEqual(["closed ask-1 expired"]);
  },
  30_000,
);

const xfconf = (member: string, ...args: string[]) =>
  desktop.run(
    ...["gdbus", "call", "--session", "--dest", "org.xfce.Xfconf", "--object-path", "/org/xfce/Xfconf"],
    ...["--method", `org.xfce.Xfconf.${member}`, ...args],
  );

onDesktop(
  "do not disturb of the desktop is noticed, on and off",
  async () => {
    const notifier = await open();
    expect(await notifier.isSilenced()).toBe(false);
    await xfconf("SetProperty", "xfce4-notifyd", "/do-not-disturb", "<true>");
    await waitUntil(async () => (await notifier.isSilenced()) === true, 15_000);
    await xfconf("SetProperty", "xfce4-notifyd", "/do-not-disturb", "<false>");
    await waitUntil(async () => (await notifier.isSilenced()) === false, 15_000);
  },
  30_000,
);

onDesktop(
  "after the notification server was killed, open alerts are shown again",
  async () => {
    const closed: string[] = [];
    const notifier = await openFreedesktopNotifier(
      {
        ...options(),
        onClosed(...args) {
          closed.push(args.join(" "));
          reconciler.closed(...args);
        },
      },
      desktop.env,
    );
    if (notifier === null) throw new Error("no notifier");
    notifiers.push(notifier);
    const reconciler = createAlertReconciler(notifier, {
      onProblem: (text) => problems.push(text),
      now: () => performance.now(),
      schedule,
    });
    reconciler.want([alert()]);
    await waitForOnly();
    await desktop.killNotifications();
    // The bus starts another one.
    await waitUntil(() => closed.length > 0, 10_000);
    const area = await waitForOnly();
    await clickButton(area);
    await waitForEvent("click ask-1");
    await waitUntil(() => closed.length > 1, 15_000);
    expect(closed).toEqual(["ask-1 unknown", "ask-1 user"]);
    reconciler.stop();
  },
  30_000,
);

onDesktop(
  "after the session bus was killed, open alerts are shown again",
  async () => {
    const own = await startDesktop({ notifications: true });
    try {
      const notifier = await openFreedesktopNotifier(
        { ...options(), onClosed: (key, by) => reconciler.closed(key, by) },
        own.env,
      );
      if (notifier === null) throw new Error("no notifier");
      const reconciler = createAlertReconciler(notifier, {
        onProblem: (text) => problems.push(text),
        now: () => performance.now(),
        schedule,
      });
      const count = async () => (await own.windows("--class", "xfce4-notifyd")).length;
      const empty = await count();
      reconciler.want([alert()]);
      await waitUntil(async () => (await count()) > empty, 15_000);
      await own.killNotifications();
      await own.killBus();
      await waitUntil(async () => (await count()) === 0, 15_000);
      await own.startBus();
      await own.startNotifications();
      await waitUntil(async () => (await count()) > empty, 10_000);
      reconciler.stop();
      await notifier.stop();
      await waitUntil(async () => (await count()) === empty, 15_000);
    } finally {
      await own.stop();
    }
  },
  60_000,
);

testWith(...needs, "notify-send")(
  "notify-send: alerts are shown, updated, clicked and closed",
  async () => {
    const notifier = await open(openNotifySend);
    await notifier.show(alert());
    await waitForOnly();
    await notifier.show(alert({ title: "--version $(id) `id`" }));
    await notifier.show(alert({ key: "ask-2" }));
    await waitUntil(async () => (await findNotifications()).length === 2, 15_000);
    await desktop.screenshot("notification-notify-send");
    await notifier.close("ask-1");
    await clickButton(await waitForOnly());
    await waitForEvent("closed ask-2 user");
    expect(events).toEqual(["click ask-2", "closed ask-2 user"]);
    expect(problems).toEqual([]);
  },
  30_000,
);

testWith(...needs, "notify-send")(
  "notify-send: at most twenty alerts are open, each with its process",
  async () => {
    const notifier = await open(openNotifySend);
    for (let n = 0; n < 25; n++) await notifier.show(alert({ key: `ask-${n}` }));
    await waitUntil(async () => (await findNotifications()).length === 20, 10_000);
    expect(events).toHaveLength(5);
    expect(events).toContain("closed ask-4 expired");
  },
  60_000,
);

testWith(...needs, "dunst")(
  "dunst: alerts are shown and closed, and do not disturb is noticed",
  async () => {
    const own = await startDesktop();
    try {
      own.spawn(["dunst"]);
      await waitUntil(() => own.hasOwner(name), 15_000);
      const notifier = await openFreedesktopNotifier(options(), own.env);
      if (notifier === null) throw new Error("no notifier");
      const count = async () => (await own.windows("--class", "dunst")).length;
      await notifier.show(alert());
      await waitUntil(async () => (await count()) === 1, 15_000);
      await own.screenshot("notification-dunst");
      expect(await notifier.isSilenced()).toBe(false);
      await notifier.close("ask-1");
      await waitUntil(async () => (await count()) === 0, 15_000);
      await own.run("dunstctl", "set-paused", "true");
      await waitUntil(async () => (await notifier.isSilenced()) === true, 15_000);
      await notifier.stop();
    } finally {
      await own.stop();
    }
  },
  30_000,
);
