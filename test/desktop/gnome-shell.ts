/** GNOME Shell on a private X server: window manager, panel with the AppIndicator extension, and notifications. */
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Bus, connectBus } from "../../src/desktop/dbus.ts";
import { waitUntil } from "../wait-until.ts";
import type { Area, VirtualDesktop } from "./desktop-harness.ts";

const indicators = "/usr/share/gnome-shell/extensions/ubuntu-appindicators@ubuntu.com";

/** What GNOME Shell needs, for testWith: notifications are a gjs program, the tray is an extension. */
export const gnomeNeeds: readonly string[] = [
  "gnome-shell",
  "gjs",
  ...(existsSync(indicators) ? [] : ["gnome-shell-extension-appindicator"]),
];

/** The settings after a first login. */
const settings = `[org/gnome/shell]
enabled-extensions=['ubuntu-appindicators@ubuntu.com', 'screen-reader@beckon']
disable-extension-version-validation=true
welcome-dialog-last-shown-version='999'
[org/gnome/desktop/interface]
enable-animations=false
`;
const startMs = 60_000;

export async function startGnomeShell(desktop: VirtualDesktop): Promise<void> {
  const { home, env, spawn, hasOwner } = desktop;
  const file = join(env.XDG_CONFIG_HOME ?? "", "glib-2.0/settings/keyfile");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, settings);
  const data = join(env.XDG_DATA_HOME ?? "", "gnome-shell");
  const reader = join(data, "extensions/screen-reader@beckon");
  cpSync(join(import.meta.dir, "../fixtures/gnome-screen-reader"), reader, { recursive: true });
  // Without this file it warns that there is no lock screen, and shows no other notification until the mouse moves.
  writeFileSync(join(data, "lock-warning-shown"), "");
  // It needs a system bus, which may be empty.
  const system = join(home, "run/system");
  spawn(["dbus-daemon", "--session", "--nofork", "--nopidfile", `--address=unix:path=${system}`]);
  await waitUntil(() => existsSync(system), startMs);
  const shell = spawn(["gnome-shell", "--x11"], { DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${system}` });
  void shell.stdout.text();
  const errors = shell.stderr.text();
  for (const name of [
    "org.freedesktop.Notifications",
    "org.kde.StatusNotifierWatcher",
    "beckon.ScreenReader",
  ]) {
    await waitUntil(async () => shell.exitCode !== null || (await hasOwner(name)), startMs);
    if (shell.exitCode !== null) throw new Error(`gnome-shell ended: ${(await errors).slice(-2_000)}`);
  }
  await leaveOverview(desktop);
}

/** GNOME Shell starts with the overview, in which no new window gets the keyboard. */
async function leaveOverview({ env, key }: VirtualDesktop): Promise<void> {
  const bus = await connectBus({ address: env.DBUS_SESSION_BUS_ADDRESS ?? "", onEnd: () => {} });
  const isOpen = async () => (await readScreen(bus)).some(({ text }) => text === "Type to search");
  await waitUntil(isOpen, startMs);
  await waitUntil(async () => {
    await key("Escape");
    return !(await isOpen());
  }, startMs);
  bus.close();
}

export interface ScreenText extends Area {
  readonly text: string;
}

/** The texts that GNOME Shell itself shows: in the panel, menus and notifications. */
export async function readScreen(bus: Bus): Promise<ScreenText[]> {
  const [answer] = await bus.call({
    destination: "beckon.ScreenReader",
    path: "/beckon/ScreenReader",
    interface: "beckon.ScreenReader",
    member: "Read",
    // GNOME Shell draws in software here, which takes seconds on a busy machine.
    timeoutMs: startMs,
  });
  return JSON.parse(String(answer));
}
