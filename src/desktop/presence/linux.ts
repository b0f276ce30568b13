/**
 * Presence on Linux. Idle time: the X server's screen saver extension, Mutter's idle monitor, KDE's screen saver service.
 * Lock: GNOME's and KDE's screen saver services, and logind's LockedHint, which most lockers set.
 */
import type { Exec, PresenceReading, ReadPresence } from "../../core/interfaces/index.ts";
import { readFlag, readNumber } from "../../core/json.ts";
import type { BusCall } from "../../core/terminals/plan.ts";
import { type Bus, connectBus, daemon, findBusAddress } from "../dbus.ts";
import { connectX11 } from "../x11.ts";

export interface PresenceOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly exec: Exec;
}

const callMs = 250;
/** A service that is not there must not be started by asking for it: only names that have an owner are called. */
const services = {
  mutter: {
    destination: "org.gnome.Mutter.IdleMonitor",
    path: "/org/gnome/Mutter/IdleMonitor/Core",
    interface: "org.gnome.Mutter.IdleMonitor",
    member: "GetIdletime",
  },
  gnomeLock: {
    destination: "org.gnome.ScreenSaver",
    path: "/org/gnome/ScreenSaver",
    interface: "org.gnome.ScreenSaver",
    member: "GetActive",
  },
  kdeIdle: {
    destination: "org.kde.screensaver",
    path: "/org/freedesktop/ScreenSaver",
    interface: "org.freedesktop.ScreenSaver",
    member: "GetSessionIdleTime",
  },
  kdeLock: {
    destination: "org.freedesktop.ScreenSaver",
    path: "/org/freedesktop/ScreenSaver",
    interface: "org.freedesktop.ScreenSaver",
    member: "GetActive",
  },
} as const satisfies Readonly<Record<string, BusCall>>;

export function createLinuxPresence({ env, exec }: PresenceOptions): ReadPresence {
  let connecting: Promise<Bus | null> | null = null;

  function openBus(): Promise<Bus | null> {
    const address = findBusAddress(env);
    if (address === null) return Promise.resolve(null);
    const forget = () => {
      connecting = null;
    };
    connecting ??= connectBus({ address, onEnd: forget }).catch(() => {
      forget();
      return null;
    });
    return connecting;
  }

  async function call(service: BusCall): Promise<unknown> {
    const bus = await openBus();
    if (!bus) return null;
    try {
      const [hasOwner] = await bus.call({
        ...daemon,
        member: "NameHasOwner",
        signature: "s",
        body: [service.destination],
        timeoutMs: callMs,
      });
      if (hasOwner !== true) return null;
      const [value] = await bus.call({ ...service, timeoutMs: callMs });
      return value;
    } catch {
      return null;
    }
  }

  /** Under Wayland the X server sees only the input of X11 windows. */
  async function readX11IdleMs(): Promise<number | null> {
    if (!env.DISPLAY || env.WAYLAND_DISPLAY) return null;
    try {
      const x11 = await connectX11(env, callMs);
      try {
        return await x11.readIdleMs();
      } finally {
        x11.close();
      }
    } catch {
      return null;
    }
  }

  async function readLockedHint(): Promise<boolean | null> {
    if (!env.XDG_SESSION_ID) return null;
    const { code, stdout } = await exec(
      ["loginctl", "show-session", env.XDG_SESSION_ID, "--property=LockedHint"],
      { timeoutMs: callMs },
    );
    return code === 0 ? stdout.trim() === "LockedHint=yes" : null;
  }

  return async (): Promise<PresenceReading> => {
    const [x11Ms, mutterMs, kdeMs, gnomeLocked, kdeLocked, lockedHint] = await Promise.all([
      readX11IdleMs(),
      call(services.mutter).then(readMs),
      call(services.kdeIdle).then((value) => readMs(value) || null),
      call(services.gnomeLock).then(readFlag),
      call(services.kdeLock).then(readFlag),
      readLockedHint(),
    ]);
    const locks = [gnomeLocked, kdeLocked, lockedHint].filter((lock) => lock !== null);
    return {
      idleMs: x11Ms ?? mutterMs ?? kdeMs,
      isLocked: locks.length === 0 ? null : locks.includes(true),
    };
  };
}

/**
 * Mutter answers with a 64-bit number, KDE with a 32-bit one; both are milliseconds. Under Wayland, KDE's KIdleTime cannot tell and
 * answers 0, so that is unknown.
 */
function readMs(value: unknown): number | null {
  if (typeof value === "bigint") return Number(value);
  return readNumber(value);
}
