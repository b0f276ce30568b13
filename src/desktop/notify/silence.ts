/**
 * Has the person asked their desktop for silence? Each server keeps it in its own place.
 *
 * | server | where | |
 * |---|---|---|
 * | xfce4-notifyd | xfconf, /do-not-disturb | run here (0.7.3) |
 * | dunst | property paused | run here (1.9.0) |
 * | Plasma | property Inhibited | by documentation |
 * | GNOME Shell | gsettings, show-banners | run here (43.9) |
 * | Cinnamon, MATE | gsettings | by documentation |
 * | mako | mode do-not-disturb | by documentation |
 * | SwayNotificationCenter | GetDnd | by documentation |
 */
import { Variant } from "@jellybrick/dbus-next";
import type { Exec } from "../../core/ports.ts";
import type { NotificationServer } from "./server.ts";

type Reader = (server: NotificationServer, exec: Exec) => Promise<boolean | null>;

const notifications = {
  destination: "org.freedesktop.Notifications",
  path: "/org/freedesktop/Notifications",
} as const;

/** Properties come wrapped in a variant. */
const flag = (answer: unknown): boolean | null => {
  const value = answer instanceof Variant ? answer.value : answer;
  return typeof value === "boolean" ? value : null;
};

const property =
  (of: string, member: string): Reader =>
  async (server) =>
    flag(
      await server.ask({
        ...notifications,
        interface: "org.freedesktop.DBus.Properties",
        member: "Get",
        signature: "ss",
        body: [of, member],
      }),
    );

const gsettings =
  (schema: string, key: string, silent: "true" | "false"): Reader =>
  async (_server, exec) => {
    const { code, stdout } = await exec(["gsettings", "get", schema, key], { timeoutMs: 1_000 });
    const value = stdout.trim();
    return code === 0 && (value === "true" || value === "false") ? value === silent : null;
  };

const xfconf: Reader = async (server) => {
  const read = server.ask({
    destination: "org.xfce.Xfconf",
    path: "/org/xfce/Xfconf",
    interface: "org.xfce.Xfconf",
    member: "GetProperty",
    signature: "ss",
    body: ["xfce4-notifyd", "/do-not-disturb"],
  });
  // Not there until it has been switched on once.
  return flag(
    await read.catch((error) => (/PropertyNotFound|does not exist/.test(String(error)) ? false : null)),
  );
};

const mako: Reader = async (server) => {
  const modes = await server.ask({
    ...notifications,
    path: "/fr/emersion/Mako",
    interface: "fr.emersion.Mako",
    member: "ListModes",
  });
  return Array.isArray(modes) ? modes.includes("do-not-disturb") : null;
};

const swaync: Reader = async (server) =>
  flag(
    await server.ask({
      destination: "org.erikreider.swaync.cc",
      path: "/org/erikreider/swaync/cc",
      interface: "org.erikreider.swaync.cc",
      member: "GetDnd",
    }),
  );

/** By the name the server gives itself. */
const readers: readonly (readonly [RegExp, Reader])[] = [
  [/^gnome-shell$/i, gsettings("org.gnome.desktop.notifications", "show-banners", "false")],
  [/^xfce notify daemon$/i, xfconf],
  [/^plasma$/i, property("org.freedesktop.Notifications", "Inhibited")],
  [/^dunst$/i, property("org.dunstproject.cmd0", "paused")],
  [/^mako$/i, mako],
  [/^SwayNotificationCenter$/i, swaync],
  [/^cinnamon$/i, gsettings("org.cinnamon.desktop.notifications", "display-notifications", "false")],
  [/^notification daemon$/i, gsettings("org.mate.NotificationDaemon", "do-not-disturb", "true")],
];

/** null: it cannot be known here. */
export async function readSilence(server: NotificationServer, exec: Exec): Promise<boolean | null> {
  const reader = readers.find(([program]) => program.test(server.program))?.[1];
  return reader === undefined ? null : reader(server, exec).catch(() => null);
}
