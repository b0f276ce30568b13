/** The icon in a panel that takes StatusNotifierItems. It survives restarts of the panel and of the session bus. */

import { readFileSync } from "node:fs";
import type { UserAction } from "../../core/config/user-action.ts";
import type { TrayReport } from "../../core/interfaces/index.ts";
import { emptyView, type TrayView } from "../../core/view/view.ts";
import { type Attempt, ConnectionError, keepConnected } from "../../system/keep-connected.ts";
import { schedule, waitAtMost } from "../../system/schedule.ts";
import { createThrottle } from "../coalesce.ts";
import { type Bus, connectBus, daemon, ownerChanges, readBusProperty } from "../dbus.ts";
import { DbusMenu } from "./dbusmenu.ts";
import { StatusItem } from "./sni.ts";

export interface PanelIconOptions {
  /** Called before every attempt to connect: the session bus can start later than beckon. */
  readonly address: () => string | null;
  readonly onAction: (action: UserAction) => void;
  /** A panel shows the icon now, or no longer does. */
  readonly onShown: (isShown: boolean) => void;
  readonly onProblem: (text: string) => void;
}

export interface PanelIcon {
  /** Whether the first attempt reached a session bus. */
  readonly hasBus: Promise<boolean>;
  show(view: TrayView): void;
  report(): Promise<TrayReport>;
  stop(): void;
}

const watcher = "org.kde.StatusNotifierWatcher";
const watcherPath = "/StatusNotifierWatcher";
const itemPath = "/StatusNotifierItem";
const menuPath = "/StatusNotifierItem/Menu";
const updateEveryMs = 50;
/**
 * GNOME's AppIndicator extension drops an icon that arrives while it still draws the last one, so it is sent again (measured with 46;
 * https://github.com/ubuntu/gnome-shell-extension-appindicator/issues/470 has the same).
 */
const resendIconMs = [1_000, 5_000];
/** The icon is back 2 s after the bus. */
const backoff = { firstMs: 250, maxMs: 2_000 };
const registerRetryMs = 1_000;
const registerAttempts = 5;
const reportTimeoutMs = 1_000;

export function createPanelIcon(options: PanelIconOptions): PanelIcon {
  const firstAttempt = Promise.withResolvers<boolean>();
  let view = emptyView;
  let exported: { readonly bus: Bus; readonly item: StatusItem; readonly menu: DbusMenu } | null = null;

  const updates = createThrottle((wanted: TrayView) => {
    view = wanted;
    if (exported?.item.show(view)) scheduleResend();
    exported?.menu.show(view.items);
  }, updateEveryMs);

  let resends: readonly ReturnType<typeof setTimeout>[] = [];
  function scheduleResend(): void {
    resends.forEach(clearTimeout);
    resends = resendIconMs.map((ms) => setTimeout(() => exported?.item.emitNewIcon(), ms).unref());
  }

  /** Rejects when the connection has ended. */
  async function serve({ signal, onConnected }: Attempt): Promise<void> {
    const ended = Promise.withResolvers<void>();
    const bus = await connect(ended.resolve).catch((error) => {
      firstAttempt.resolve(false);
      throw error;
    });
    onConnected();
    const close = () => {
      bus.close();
      ended.resolve();
    };
    signal.addEventListener("abort", close);
    if (signal.aborted) close();
    const item = new StatusItem({ ...options, onOpening: updates.flush, menuPath });
    const menu = new DbusMenu({ ...options, onOpening: updates.flush });
    item.show(view);
    menu.show(view.items);
    exported = { bus, item, menu };
    try {
      bus.export(itemPath, item);
      bus.export(menuPath, menu);
      await followWatcher(bus, ended.promise);
    } catch (error) {
      options.onProblem(`beckon could not look for a panel on the session bus: ${error}`);
      close();
    }
    firstAttempt.resolve(true);
    await ended.promise;
    exported = null;
    if (signal.aborted) return;
    options.onShown(false);
    options.onProblem("the session bus is gone; the tray icon comes back with it");
    throw new ConnectionError("the session bus is gone");
  }

  async function connect(onEnd: () => void): Promise<Bus> {
    const address = options.address();
    if (address === null) throw new ConnectionError("there is no session bus");
    return connectBus({ address, onEnd });
  }

  async function followWatcher(bus: Bus, ended: Promise<void>): Promise<void> {
    let owner = "";
    void ended.then(() => {
      owner = "";
    });
    const onOwner = (newOwner: string) => {
      owner = newOwner;
      if (newOwner === "") options.onShown(false);
      else void register(bus, () => owner === newOwner, ended);
    };
    await bus.onSignal({ ...ownerChanges, arg0: watcher }, ([, , newOwner]) => onOwner(String(newOwner)));
    const [hasOwner] = await bus.call({ ...daemon, member: "NameHasOwner", signature: "s", body: [watcher] });
    if (owner === "") onOwner(hasOwner === true ? "exists" : "");
  }

  async function register(bus: Bus, isCurrent: () => boolean, ended: Promise<void>): Promise<void> {
    for (let attempt = 1; isCurrent(); attempt++) {
      try {
        await bus.call({
          destination: watcher,
          path: watcherPath,
          interface: watcher,
          member: "RegisterStatusNotifierItem",
          signature: "s",
          body: [bus.name],
        });
        return options.onShown(true);
      } catch (error) {
        if (attempt === registerAttempts) {
          options.onProblem(`the panel refused the tray icon: ${error}`);
          return options.onShown(false);
        }
        await waitAtMost(registerRetryMs, ended);
      }
    }
  }

  // Each connection that ends counts as the first failure.
  const connection = keepConnected({ connect: serve, backoff, stableMs: 0, schedule });
  return {
    hasBus: firstAttempt.promise,
    show: updates.set,
    report: async () => reportPanel(exported?.bus ?? null),
    stop() {
      updates.stop();
      resends.forEach(clearTimeout);
      firstAttempt.resolve(false);
      void connection.stop();
    },
  };
}

/** Asks the watcher which panel shows the icon. */
async function reportPanel(bus: Bus | null): Promise<TrayReport> {
  const way = "StatusNotifierItem";
  const none = (missing: string, host: string | null = null): TrayReport => ({ way, host, missing });
  if (bus === null) return none("the session bus does not answer");
  const askDaemon = (member: string, body: readonly string[]) =>
    bus
      .call({ ...daemon, member, signature: "s", body, timeoutMs: reportTimeoutMs })
      .then(([value]) => value)
      .catch(() => null);
  const target = { destination: watcher, path: watcherPath, interface: watcher, timeoutMs: reportTimeoutMs };
  const readProperty = (property: string) =>
    readBusProperty(bus.call, { ...target, property }).catch(() => null);
  const [owner, pid, items, hasHost] = await Promise.all([
    askDaemon("GetNameOwner", [watcher]),
    askDaemon("GetConnectionUnixProcessID", [watcher]),
    readProperty("RegisteredStatusNotifierItems"),
    readProperty("IsStatusNotifierHostRegistered"),
  ]);
  if (typeof owner !== "string") return none("no panel here takes icons");
  const host = typeof pid === "number" ? formatProgram(pid) : owner;
  if (items === null) return none("the panel does not answer", host);
  if (hasHost === false) return none("a panel keeps a list of icons, but no panel shows them", host);
  // `:1.7` must not match `:1.70/StatusNotifierItem`.
  const isOurs = (item: string) => item.startsWith(bus.name) && !/\d/.test(item.charAt(bus.name.length));
  const isListed = Array.isArray(items) && items.some((item) => isOurs(String(item)));
  return isListed ? { way, host, missing: null } : none("the panel has not taken the icon", host);
}

/** `xfce4-panel (pid 312)` */
function formatProgram(pid: number): string {
  try {
    return `${readFileSync(`/proc/${pid}/comm`, "utf8").trim()} (pid ${pid})`;
  } catch {
    return `pid ${pid}`;
  }
}
