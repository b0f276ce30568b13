/** Presence on macOS: the time since the last input and the lock, from the I/O registry. Untested on a real Mac. */
import type { Exec, PresenceReading, ReadPresence } from "../../core/interfaces/index.ts";

export function createMacPresence({ exec }: { readonly exec: Exec }): ReadPresence {
  return async (): Promise<PresenceReading> => {
    const [hid, root] = await Promise.all([
      exec(["/usr/sbin/ioreg", "-c", "IOHIDSystem", "-d", "4", "-r"], { timeoutMs: 250 }),
      exec(["/usr/sbin/ioreg", "-n", "Root", "-d", "1"], { timeoutMs: 250 }),
    ]);
    return { idleMs: parseIdleMs(hid.stdout), isLocked: root.code === 0 ? parseLocked(root.stdout) : null };
  };
}

/** `"HIDIdleTime" = 1234567890`, in nanoseconds. */
function parseIdleMs(ioreg: string): number | null {
  const nanoseconds = /"HIDIdleTime"\s*=\s*(\d+)/.exec(ioreg)?.[1];
  return nanoseconds === undefined ? null : Math.floor(Number(nanoseconds) / 1e6);
}

/** The key is there, and Yes, only while the screen is locked. */
function parseLocked(ioreg: string): boolean {
  return /"CGSSessionScreenIsLocked"\s*=\s*Yes/.test(ioreg);
}
