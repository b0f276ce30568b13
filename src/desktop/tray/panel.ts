/** Our icon in a panel that takes StatusNotifierItems: kept there across restarts of the panel and of the bus. */

import type { UserAction } from "../../core/config/user-action.ts";
import type { TrayReport } from "../../core/ports.ts";
import type { TrayView } from "../../core/view/view.ts";
import { type Bus, connectBus, daemon, ownerChanges } from "../dbus.ts";
import { DbusMenu } from "./dbusmenu.ts";
import { latest } from "./latest.ts";
import { noView } from "./no-view.ts";
import { hostOf } from "./panel-host.ts";
import { StatusItem } from "./sni.ts";

export interface PanelIconOptions {
  /** Asked anew for every attempt: a session's bus can come later than we. */
  readonly address: () => string | null;
  readonly onAction: (action: UserAction) => void;
  /** A panel has our icon now, or has it no longer. */
  readonly onPlace: (hasPlace: boolean) => void;
  readonly onProblem: (text: string) => void;
}

export interface PanelIcon {
  /** Is there a bus at all? Known after the first attempt. */
  readonly hasBus: Promise<boolean>;
  show(view: TrayView): void;
  about(): Promise<TrayReport>;
  stop(): void;
}

const watcher = "org.kde.StatusNotifierWatcher";
const itemPath = "/StatusNotifierItem";
const menuPath = "/StatusNotifierItem/Menu";
const updateEveryMs = 50;
/** GNOME's AppIndicator extension (46) drops an icon that comes while it still draws the one before: it is told again. */
const tellAgainMs = [1_000, 5_000];
/** The last one again and again: the icon is back 2 s after the bus is. */
const reconnectMs = [250, 500, 1_000, 2_000];
const registerAgainMs = 1_000;
const registerAttempts = 5;

export function createPanelIcon(options: PanelIconOptions): PanelIcon {
  const stopped = new AbortController();
  const firstAttempt = Promise.withResolvers<boolean>();
  let view = noView;
  let shown: { readonly bus: Bus; readonly item: StatusItem; readonly menu: DbusMenu } | null = null;

  const updates = latest((wanted: TrayView) => {
    view = wanted;
    if (shown?.item.show(view)) tellAgain();
    shown?.menu.show(view.items);
  }, updateEveryMs);

  let again: readonly ReturnType<typeof setTimeout>[] = [];
  function tellAgain(): void {
    again.forEach(clearTimeout);
    again = tellAgainMs.map((ms) => setTimeout(() => shown?.item.tellIcon(), ms).unref());
  }

  async function keepConnected(): Promise<void> {
    for (let attempt = 0; !stopped.signal.aborted; attempt++) {
      if (await serve()) {
        attempt = 0;
        if (!stopped.signal.aborted)
          options.onProblem("the session bus is gone; the icon comes back with it");
      }
      await pause(reconnectMs[Math.min(attempt, reconnectMs.length - 1)] ?? 0, stopped.signal);
    }
  }

  /** Resolves at the connection's end: true if there was one. */
  async function serve(): Promise<boolean> {
    const ended = Promise.withResolvers<void>();
    const address = options.address();
    let bus: Bus;
    try {
      if (address === null) throw new Error("no bus");
      bus = await connectBus({ address, onEnd: ended.resolve });
    } catch {
      firstAttempt.resolve(false);
      return false;
    }
    const close = () => {
      bus.close();
      ended.resolve();
    };
    stopped.signal.addEventListener("abort", close);
    if (stopped.signal.aborted) close();
    const item = new StatusItem({ ...options, onOpening: updates.flush, menuPath });
    const menu = new DbusMenu({ ...options, onOpening: updates.flush });
    item.show(view);
    menu.show(view.items);
    shown = { bus, item, menu };
    try {
      bus.export(itemPath, item);
      bus.export(menuPath, menu);
      await followWatcher(bus);
    } catch (error) {
      options.onProblem(`the session bus did not let beckon look for a panel: ${error}`);
      close();
    }
    firstAttempt.resolve(true);
    await ended.promise;
    stopped.signal.removeEventListener("abort", close);
    shown = null;
    if (!stopped.signal.aborted) options.onPlace(false);
    return true;
  }

  async function followWatcher(bus: Bus): Promise<void> {
    let owner = "";
    const changed = (now: string) => {
      owner = now;
      if (now === "") options.onPlace(false);
      else void register(bus, () => owner === now);
    };
    await bus.onSignal({ ...ownerChanges, arg0: watcher }, ([, , now]) => changed(String(now)));
    const [hasOwner] = await bus.call({ ...daemon, member: "NameHasOwner", signature: "s", body: [watcher] });
    if (owner === "") changed(hasOwner === true ? "there" : "");
  }

  async function register(bus: Bus, isStill: () => boolean): Promise<void> {
    for (let attempt = 1; isStill() && !stopped.signal.aborted; attempt++) {
      try {
        await bus.call({
          destination: watcher,
          path: "/StatusNotifierWatcher",
          interface: watcher,
          member: "RegisterStatusNotifierItem",
          signature: "s",
          body: [bus.name],
        });
        return options.onPlace(true);
      } catch (error) {
        if (attempt === registerAttempts) {
          options.onProblem(`the panel refused the icon: ${error}`);
          return options.onPlace(false);
        }
        await pause(registerAgainMs, stopped.signal);
      }
    }
  }

  void keepConnected();
  return {
    hasBus: firstAttempt.promise,
    show: updates.set,
    about: async () => hostOf(shown?.bus ?? null),
    stop() {
      updates.stop();
      again.forEach(clearTimeout);
      stopped.abort();
      firstAttempt.resolve(false);
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish);
    if (signal.aborted) finish();
  });
}
