import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAlertReconciler } from "../../src/alerts/reconcile.ts";
import type { Notifier } from "../../src/core/ports.ts";
import { openFreedesktopNotifier } from "../../src/desktop/notify/freedesktop.ts";
import { openNotifySend } from "../../src/desktop/notify/notify-send.ts";
import { schedule } from "../../src/storage/schedule.ts";
import { hasAll, testWith } from "../needs.ts";
import { until } from "../world.ts";
import { alert, listen } from "./notify-fixtures.ts";
import { type Area, type Desktop, desktopNeeds, startDesktop } from "./world.ts";

const name = "org.freedesktop.Notifications";
const notifyd = "/usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd";
const needs = [...desktopNeeds, notifyd, "dbus-monitor", "gdbus"] as const;
const onDesktop = testWith(...needs);
const hasDesktop = hasAll(needs);

let desktop: Desktop;
const { news, problems, options } = listen(() => desktop.home);
const notifiers: Notifier[] = [];

beforeAll(async () => {
  if (!hasDesktop) return;
  desktop = await startDesktop({ notifications: true });
  // Of several notification servers on one machine, the bus starts the one that the person's own folder names.
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
  if (hasDesktop) await until(async () => (await shown()).length === 0, 5_000);
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

/** Where notifications are on the screen, from the top. */
async function shown(): Promise<Area[]> {
  const windows = await desktop.windows("--class", "xfce4-notifyd");
  const areas = await Promise.all(windows.map((window) => desktop.areaOf(window).catch(() => [])));
  // It has a window of its own that nobody sees.
  return areas
    .flat()
    .filter(({ width }) => width > 50)
    .toSorted((a, b) => a.y - b.y);
}
async function only(): Promise<Area> {
  await until(async () => (await shown()).length === 1, 5_000);
  const [area] = await shown();
  if (area === undefined) throw new Error("it went away");
  return area;
}
const clickButton = ({ x, y, width, height }: Area) => desktop.click(x + width - 60, y + height - 30);
/** It fades in and out, and is drawn a little after its window is there. */
const settledPicture = async (area: Area, name: string): Promise<Buffer> => {
  let before = Buffer.alloc(0);
  let now = Buffer.alloc(0);
  await until(async () => {
    before = now;
    await Bun.sleep(100);
    now = readFileSync(await desktop.screenshot(name, area));
    return now.equals(before);
  }, 5_000);
  return now;
};
const untilNews = (text: string) => until(() => news.includes(text), 5_000);

onDesktop(
  "a notification with its words is on the screen, and a click on its button is heard",
  async () => {
    const monitor = desktop.spawn(["dbus-monitor", "--session", `interface=${name}`]);
    let heard = "";
    void (async () => {
      for await (const chunk of monitor.stdout) heard += new TextDecoder().decode(chunk);
    })();
    await until(() => heard.includes("NameAcquired") || heard.includes("NameLost"), 5_000);
    const notifier = await open();
    await notifier.show(alert());
    const area = await only();
    await until(() => heard.includes("member=Notify"), 5_000);
    expect(heard).toContain('string "checkout-api wants to run a command"');
    expect(heard).toContain('string "rm -rf node_modules &amp;&amp; npm ci &lt;now&gt;\nmain · tmux"');
    await settledPicture(area, "notification-blocked");
    await clickButton(area);
    await untilNews("closed ask-1 user");
    expect(news).toEqual(["click ask-1", "closed ask-1 user"]);
    await until(async () => (await shown()).length === 0, 5_000);
    monitor.kill();
  },
  30_000,
);

onDesktop(
  "when the ask ends, its notification leaves the screen",
  async () => {
    const notifier = await open();
    await notifier.show(alert());
    await notifier.show(alert({ key: "ask-2", title: "another one" }));
    await until(async () => (await shown()).length === 2, 5_000);
    await notifier.close("ask-1");
    await until(async () => (await shown()).length === 1, 5_000);
    await notifier.close("ask-2");
    await until(async () => (await shown()).length === 0, 5_000);
    expect(news).toEqual([]);
  },
  30_000,
);

onDesktop(
  "new words are shown in the same place",
  async () => {
    const notifier = await open();
    const handle = await notifier.show(alert({ title: "AAAAAAAAAAAA" }));
    const before = await only();
    const first = await settledPicture(before, "notification-before");
    expect(await notifier.show(alert({ title: "BBBBBBBBBBBB" }))).toBe(handle);
    await until(
      async () => !readFileSync(await desktop.screenshot("notification-after", before)).equals(first),
      5_000,
    );
    const after = await only();
    expect(after.y).toBe(before.y);
    expect(after.x + after.width).toBe(before.x + before.width);
  },
  30_000,
);

onDesktop(
  "a notification that the person closes is known to be closed by them",
  async () => {
    const notifier = await open();
    await notifier.show(alert());
    const { x, y } = await only();
    // Beside its words: xfce4-notifyd closes it.
    await desktop.click(x + 40, y + 100);
    await untilNews("closed ask-1 user");
    expect(news).toEqual(["closed ask-1 user"]);
  },
  30_000,
);

onDesktop(
  "a quiet one goes by itself",
  async () => {
    await xfconf("SetProperty", "xfce4-notifyd", "/expire-timeout", "<int32 1>");
    const notifier = await open();
    await notifier.show(alert({ kind: "idle", urgency: "low", sound: false }));
    await notifier.show(alert({ key: "ask-2" }));
    await untilNews("closed ask-1 expired");
    expect((await shown()).length).toBe(1);
    expect(news).toEqual(["closed ask-1 expired"]);
  },
  30_000,
);

const xfconf = (member: string, ...args: string[]) =>
  desktop.run(
    ...["gdbus", "call", "--session", "--dest", "org.xfce.Xfconf", "--object-path", "/org/xfce/Xfconf"],
    ...["--method", `org.xfce.Xfconf.${member}`, ...args],
  );

onDesktop(
  "do-not-disturb of the desktop is seen, on and off",
  async () => {
    const notifier = await open();
    expect(await notifier.isSilenced()).toBe(false);
    await xfconf("SetProperty", "xfce4-notifyd", "/do-not-disturb", "<true>");
    await until(async () => (await notifier.isSilenced()) === true, 3_000);
    await xfconf("SetProperty", "xfce4-notifyd", "/do-not-disturb", "<false>");
    await until(async () => (await notifier.isSilenced()) === false, 3_000);
  },
  30_000,
);

onDesktop(
  "the notification server is killed: what is still asked comes back on the screen",
  async () => {
    const told: string[] = [];
    const notifier = await openFreedesktopNotifier(
      {
        ...options(),
        onClosed(...args) {
          told.push(args.join(" "));
          alerter.closed(...args);
        },
      },
      desktop.env,
    );
    if (notifier === null) throw new Error("no notifier");
    notifiers.push(notifier);
    const alerter = createAlertReconciler(notifier, {
      onProblem: (text) => problems.push(text),
      now: () => performance.now(),
      schedule,
    });
    alerter.want([alert()]);
    await only();
    await desktop.killNotifications();
    // The bus starts another: the desktop has told it how.
    await until(() => told.length > 0, 10_000);
    const area = await only();
    await clickButton(area);
    await untilNews("click ask-1");
    await until(() => told.length > 1, 5_000);
    expect(told).toEqual(["ask-1 unknown", "ask-1 user"]);
    alerter.stop();
  },
  30_000,
);

onDesktop(
  "the session bus is killed: when it is back with its server, so is what is asked",
  async () => {
    const own = await startDesktop({ notifications: true });
    try {
      const notifier = await openFreedesktopNotifier(
        { ...options(), onClosed: (key, by) => alerter.closed(key, by) },
        own.env,
      );
      if (notifier === null) throw new Error("no notifier");
      const alerter = createAlertReconciler(notifier, {
        onProblem: (text) => problems.push(text),
        now: () => performance.now(),
        schedule,
      });
      const count = async () => (await own.windows("--class", "xfce4-notifyd")).length;
      const empty = await count();
      alerter.want([alert()]);
      await until(async () => (await count()) > empty, 5_000);
      await own.killNotifications();
      await own.killBus();
      await until(async () => (await count()) === 0, 5_000);
      await own.startBus();
      await own.startNotifications();
      await until(async () => (await count()) > empty, 10_000);
      alerter.stop();
      await notifier.stop();
      await until(async () => (await count()) === empty, 5_000);
    } finally {
      await own.stop();
    }
  },
  60_000,
);

testWith(...needs, "notify-send")(
  "by notify-send: shown, replaced, clicked, and taken back when the ask ends",
  async () => {
    const notifier = await open(openNotifySend);
    await notifier.show(alert());
    await only();
    await notifier.show(alert({ title: "--version $(id) `id`" }));
    await notifier.show(alert({ key: "ask-2" }));
    await until(async () => (await shown()).length === 2, 5_000);
    await desktop.screenshot("notification-notify-send");
    await notifier.close("ask-1");
    await clickButton(await only());
    await untilNews("closed ask-2 user");
    expect(news).toEqual(["click ask-2", "closed ask-2 user"]);
    expect(problems).toEqual([]);
  },
  30_000,
);

testWith(...needs, "notify-send")(
  "by notify-send: many alerts are not many processes",
  async () => {
    const notifier = await open(openNotifySend);
    for (let n = 0; n < 25; n++) await notifier.show(alert({ key: `ask-${n}` }));
    await until(async () => (await shown()).length === 20, 10_000);
    expect(news).toHaveLength(5);
    expect(news).toContain("closed ask-4 expired");
  },
  60_000,
);

testWith(...needs, "dunst")(
  "dunst: shown, silence seen, and gone when the ask ends",
  async () => {
    const own = await startDesktop();
    try {
      own.spawn(["dunst"]);
      await until(() => own.hasOwner(name), 5_000);
      const notifier = await openFreedesktopNotifier(options(), own.env);
      if (notifier === null) throw new Error("no notifier");
      const count = async () => (await own.windows("--class", "dunst")).length;
      await notifier.show(alert());
      await until(async () => (await count()) === 1, 5_000);
      await own.screenshot("notification-dunst");
      expect(await notifier.isSilenced()).toBe(false);
      await notifier.close("ask-1");
      await until(async () => (await count()) === 0, 5_000);
      await own.run("dunstctl", "set-paused", "true");
      await until(async () => (await notifier.isSilenced()) === true, 3_000);
      await notifier.stop();
    } finally {
      await own.stop();
    }
  },
  30_000,
);
