/** The tray on Linux: a panel that takes StatusNotifierItems, or systray2's helper where there is only an XEmbed tray. */

import type { OpenTray, Tray, TrayOptions } from "../../core/interfaces/index.ts";
import type { TrayView } from "../../core/view/view.ts";
import type { Env } from "../../system/folders.ts";
import { findBusAddress, mayHaveBus } from "../dbus.ts";
import { connectX11 } from "../x11.ts";
import { readPng } from "./icons.ts";
import { createPanelIcon } from "./panel.ts";
import { openSystray } from "./systray.ts";

/** At login, and after its restart, a panel appears a little later. */
const panelGraceMs = 3_000;
const retryMs = 15_000;
const x11TimeoutMs = 1_000;

const noTray =
  "no tray icon: this desktop has no tray. On GNOME add the AppIndicator extension, elsewhere a panel or bar with a " +
  "tray; the icon then appears by itself. beckon goes on without it.";
const noBus =
  "no tray icon: the session bus does not answer. The icon appears when it does; beckon goes on without it.";
const noDesktop =
  "no tray icon: there is no desktop here (no session bus, no tray). beckon goes on without it.";
const helperFailed = "there is only an XEmbed tray, and systray2's helper for those did not start";

export const openLinuxTray: OpenTray = async (options) => {
  const { env } = process;
  const fallback = createFallback(options);
  let timer: ReturnType<typeof setTimeout> | null = null;
  let view: TrayView | null = null;
  let isReported = false;
  let reason = noTray;

  function cancelCheck(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  }
  function checkXembedIn(ms: number): void {
    cancelCheck();
    const own = setTimeout(async () => {
      if (fallback.isSettled()) return;
      const hasTray = await hasXembedTray(env);
      // Meanwhile a panel may have appeared, or the tray was stopped.
      if (timer !== own) return;
      if (hasTray) return fallback.open(view);
      if (!isReported) options.onProblem(reason);
      isReported = true;
      checkXembedIn(retryMs);
    }, ms);
    timer = own;
  }

  const panel = createPanelIcon({
    address: () => findBusAddress(env),
    onAction: options.onAction,
    onProblem: options.onProblem,
    onShown(isShown) {
      if (!isShown) return checkXembedIn(panelGraceMs);
      cancelCheck();
      void fallback.close();
    },
  });
  if (!(await panel.hasBus)) {
    if (mayHaveBus(env)) {
      reason = noBus;
      checkXembedIn(panelGraceMs);
    } else if (await hasXembedTray(env)) fallback.open(view);
    else {
      panel.stop();
      options.onProblem(noDesktop);
      return null;
    }
  }

  return {
    show(wanted) {
      view = wanted;
      panel.show(wanted);
      fallback.show(wanted);
    },
    async report() {
      const inPanel = await panel.report();
      if (inPanel.missing === null) return inPanel;
      const helper = await fallback.report();
      if (helper?.missing === null) return { ...helper, way: "XEmbed tray, by systray2" };
      return fallback.hasFailed() ? { ...inPanel, missing: helperFailed } : inPanel;
    },
    async stop() {
      cancelCheck();
      panel.stop();
      await fallback.close();
    },
  };
};

/** Whether there is an XEmbed tray. false also if there is no X server, or it refuses the connection. */
async function hasXembedTray(env: Env): Promise<boolean> {
  const x = await connectX11(env, x11TimeoutMs).catch(() => null);
  if (x === null) return false;
  const screen = /\.(\d+)$/.exec(env.DISPLAY ?? "")?.[1] ?? "0";
  const owner = await x.findSelectionOwner(`_NET_SYSTEM_TRAY_S${screen}`);
  x.close();
  return owner !== 0;
}

/** systray2's helper, opened and closed as needed. If it could not be opened, it is not tried again. */
function createFallback(options: TrayOptions) {
  let opening: Promise<Tray | null> | null = null;
  let tray: Tray | null = null;
  let hasFailed = false;
  let view: TrayView | null = null;

  return {
    isSettled: () => opening !== null || hasFailed,
    hasFailed: () => hasFailed,
    report: async () => tray?.report() ?? null,
    open(wanted: TrayView | null): void {
      if (opening !== null || hasFailed) return;
      view = wanted;
      const own = openSystray(options, readPng);
      opening = own;
      void own.then((opened) => {
        if (opening !== own) return opened?.stop();
        tray = opened;
        hasFailed = opened === null;
        if (view !== null) tray?.show(view);
      });
    },
    show(wanted: TrayView): void {
      view = wanted;
      tray?.show(wanted);
    },
    async close(): Promise<void> {
      const opened = tray;
      opening = null;
      tray = null;
      await opened?.stop();
    },
  };
}
