/** GNOME Shell on an X server of its own: window manager, panel with the AppIndicator extension, and notifications in one. */
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Bus, connectBus } from "../../src/desktop/dbus.ts";
import { until } from "../world.ts";
import type { Area, Desktop } from "./world.ts";

const indicators = "/usr/share/gnome-shell/extensions/ubuntu-appindicators@ubuntu.com";

/** For testWith: its notifications are a program for gjs, its tray an extension. */
export const gnomeNeeds: readonly string[] = [
  "gnome-shell",
  "gjs",
  ...(existsSync(indicators) ? [] : ["gnome-shell-extension-appindicator"]),
];

/** As a person would have it after the first login. */
const settings = `[org/gnome/shell]
enabled-extensions=['ubuntu-appindicators@ubuntu.com', 'eye@beckon']
disable-extension-version-validation=true
welcome-dialog-last-shown-version='999'
[org/gnome/desktop/interface]
enable-animations=false
`;
const startMs = 30_000;

export async function startGnomeShell(desktop: Desktop): Promise<void> {
  const { home, env, spawn, hasOwner } = desktop;
  const file = join(env.XDG_CONFIG_HOME ?? "", "glib-2.0/settings/keyfile");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, settings);
  const data = join(env.XDG_DATA_HOME ?? "", "gnome-shell");
  const eye = join(data, "extensions/eye@beckon");
  cpSync(join(import.meta.dir, "../fixtures/gnome-eye"), eye, { recursive: true });
  // It has said once that there is no lock screen. A person who moves nothing is not shown the next notification after it.
  writeFileSync(join(data, "lock-warning-shown"), "");
  // It ends at once without a system bus; that nobody is on it does not matter.
  const system = join(home, "run/system");
  spawn(["dbus-daemon", "--session", "--nofork", "--nopidfile", `--address=unix:path=${system}`]);
  await until(() => existsSync(system), startMs);
  const shell = spawn(["gnome-shell", "--x11"], { DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${system}` });
  void shell.stdout.text();
  const words = shell.stderr.text();
  for (const name of ["org.freedesktop.Notifications", "org.kde.StatusNotifierWatcher", "beckon.Eye"]) {
    await until(async () => shell.exitCode !== null || (await hasOwner(name)), startMs);
    if (shell.exitCode !== null) throw new Error(`gnome-shell ended: ${(await words).slice(-2_000)}`);
  }
  await leaveOverview(desktop);
}

/** It begins with an overview of nothing, in which no new window gets the keyboard. */
async function leaveOverview({ env, key }: Desktop): Promise<void> {
  const bus = await connectBus({ address: env.DBUS_SESSION_BUS_ADDRESS ?? "", onEnd: () => {} });
  const isThere = async () => (await read(bus)).some(({ text }) => text === "Type to search");
  await until(isThere, startMs);
  await until(async () => {
    await key("Escape");
    return !(await isThere());
  }, startMs);
  bus.close();
}

export interface Written extends Area {
  readonly text: string;
}

/** What is written on the screen by GNOME Shell itself: on its panel, in menus and notifications. */
export async function read(bus: Bus): Promise<Written[]> {
  const [answer] = await bus.call({
    destination: "beckon.Eye",
    path: "/beckon/Eye",
    interface: "beckon.Eye",
    member: "Read",
  });
  return JSON.parse(String(answer));
}
