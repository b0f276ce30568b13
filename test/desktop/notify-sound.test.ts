import { expect } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Variant } from "@jellybrick/dbus-next";
import { waitUntil } from "../wait-until.ts";
import { alert, createBusFixture, onBus } from "./notify-fixtures.ts";
import { type FakeServerOptions, startBus, startServer } from "./private-bus.ts";

const { bus, open, events, createCommands } = createBusFixture();

onBus("if the server plays no sound, the system's player does, one at a time", async () => {
  const theme = join(bus().home, "share/sounds/freedesktop/stereo");
  const log = join(bus().home, "played");
  mkdirSync(theme, { recursive: true });
  writeFileSync(join(theme, "message-new-instant.oga"), "");
  const PATH = createCommands({ paplay: `echo "$@" >>${log}; exec /bin/sleep 60` });
  const server = await startServer(bus(), { capabilities: ["body"] });
  const notifier = await open({ ...bus().env, PATH, XDG_DATA_DIRS: join(bus().home, "share") });
  await notifier.show(alert({ key: "quiet", sound: false }));
  await Promise.all([1, 2, 3, 4, 5].map((n) => notifier.show(alert({ key: `ask-${n}` }))));
  await waitUntil(() => existsSync(log) && readFileSync(log, "utf8").endsWith("\n"), 10_000);
  expect(server.onScreen.size).toBe(6);
  await notifier.stop();
  expect(readFileSync(log, "utf8")).toBe(`${join(theme, "message-new-instant.oga")}\n`);
});

onBus("beckon plays no sound on a silenced desktop, or if the server plays its own", async () => {
  const log = join(bus().home, "played");
  const PATH = createCommands({ "canberra-gtk-play": `echo "$@" >>${log}` });
  const env = { ...bus().env, PATH };
  const paused =
    "/org/freedesktop/Notifications org.freedesktop.DBus.Properties Get org.dunstproject.cmd0 paused";
  const silenced = await startServer(bus(), {
    program: "dunst",
    capabilities: ["body"],
    otherCalls: { [paused]: ["v", new Variant("b", true)] },
  });
  const notifier = await open(env);
  await notifier.show(alert());
  expect(await notifier.isSilenced()).toBe(true);
  silenced.quit();
  await startServer(bus());
  await waitUntil(() => events.length > 0, 10_000);
  await notifier.show(alert({ key: "ask-2" }));
  expect(existsSync(log)).toBe(false);
  await expectSoundWithoutSilence(env, log);
});

/** The same without those two reasons, or the check above would prove nothing. */
async function expectSoundWithoutSilence(env: Record<string, string>, log: string): Promise<void> {
  const other = await startBus();
  try {
    await startServer(other, { capabilities: ["body"] });
    const notifier = await open({ ...env, ...other.env, PATH: env.PATH ?? "" });
    await notifier.show(alert());
    await waitUntil(() => existsSync(log) && readFileSync(log, "utf8").endsWith("\n"), 10_000);
    expect(readFileSync(log, "utf8")).toBe("--id message-new-instant\n");
    await notifier.stop();
  } finally {
    await other.stop();
  }
}

const properties = "/org/freedesktop/Notifications org.freedesktop.DBus.Properties Get";
const flag = (value: unknown) => ["v", new Variant("b", value)] as const;

const doNotDisturb: readonly [string, boolean | null, FakeServerOptions, Record<string, string>?][] = [
  ["Plasma", true, { otherCalls: { [`${properties} org.freedesktop.Notifications Inhibited`]: flag(true) } }],
  [
    "Plasma",
    false,
    { otherCalls: { [`${properties} org.freedesktop.Notifications Inhibited`]: flag(false) } },
  ],
  [
    "mako",
    true,
    { otherCalls: { "/fr/emersion/Mako fr.emersion.Mako ListModes": ["as", ["default", "do-not-disturb"]] } },
  ],
  ["mako", false, { otherCalls: { "/fr/emersion/Mako fr.emersion.Mako ListModes": ["as", ["default"]] } }],
  [
    "SwayNotificationCenter",
    true,
    {
      names: ["org.erikreider.swaync.cc"],
      otherCalls: { "/org/erikreider/swaync/cc org.erikreider.swaync.cc GetDnd": ["b", true] },
    },
  ],
  [
    "gnome-shell",
    true,
    {},
    { gsettings: '[ "$*" = "get org.gnome.desktop.notifications show-banners" ] && echo false' },
  ],
  ["gnome-shell", false, {}, { gsettings: "echo true" }],
  ["gnome-shell", null, {}, { gsettings: "echo No such schema >&2; exit 1" }],
  ["gnome-shell", null, {}, {}],
  ["Plasma", null, {}],
  ["some other server", null, {}],
];
for (const [program, silenced, options, scripts = {}] of doNotDisturb) {
  onBus(`do not disturb on ${program}: ${silenced}`, async () => {
    await startServer(bus(), { program, ...options });
    const notifier = await open({ ...bus().env, PATH: createCommands(scripts) });
    expect(await notifier.isSilenced()).toBe(silenced);
  });
}
