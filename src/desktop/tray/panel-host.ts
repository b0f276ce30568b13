/** Which panel has our icon, by the word of the watcher that it is registered with. */
import { readFileSync } from "node:fs";
import { Variant } from "@jellybrick/dbus-next";
import type { TrayReport } from "../../core/ports.ts";
import { type Bus, daemon } from "../dbus.ts";

const watcher = "org.kde.StatusNotifierWatcher";
const way = "StatusNotifierItem";
const answerMs = 1_000;

export async function hostOf(bus: Bus | null): Promise<TrayReport> {
  const none = (missing: string, host: string | null = null): TrayReport => ({ way, host, missing });
  if (bus === null) return none("the session bus does not answer");
  const ask = (member: string, body: readonly string[]) =>
    bus
      .call({ ...daemon, member, signature: "s", body, timeoutMs: answerMs })
      .then(([value]) => value)
      .catch(() => null);
  const property = (name: string) =>
    bus
      .call({
        destination: watcher,
        path: "/StatusNotifierWatcher",
        interface: "org.freedesktop.DBus.Properties",
        member: "Get",
        signature: "ss",
        body: [watcher, name],
        timeoutMs: answerMs,
      })
      .then(([value]) => (value instanceof Variant ? value.value : value))
      .catch(() => null);
  const [owner, pid, items, hasHost] = await Promise.all([
    ask("GetNameOwner", [watcher]),
    ask("GetConnectionUnixProcessID", [watcher]),
    property("RegisteredStatusNotifierItems"),
    property("IsStatusNotifierHostRegistered"),
  ]);
  if (typeof owner !== "string") return none("no panel here takes icons");
  const host = typeof pid === "number" ? programOf(pid) : owner;
  if (items === null) return none("the panel does not answer", host);
  if (hasHost === false) return none("a panel keeps a list of icons, but none is there to show them", host);
  const isOurs = (item: unknown) => typeof item === "string" && /^\D*$/.test(item.charAt(bus.name.length));
  const isListed =
    Array.isArray(items) && items.some((item) => String(item).startsWith(bus.name) && isOurs(item));
  return isListed ? { way, host, missing: null } : none("the panel has not taken the icon", host);
}

/** `xfce4-panel (pid 312)` */
function programOf(pid: number): string {
  try {
    return `${readFileSync(`/proc/${pid}/comm`, "utf8").trim()} (pid ${pid})`;
  } catch {
    return `pid ${pid}`;
  }
}
