/** The tray on Linux: in a panel that takes StatusNotifierItems; where only an XEmbed tray is, by systray2's helper. */

import type { OpenTray, Tray, TrayOptions } from "../../core/ports.ts";
import type { TrayView } from "../../core/view/view.ts";
import { findBusAddress, mayHaveBus } from "../dbus.ts";
import { readPng } from "./icons/xembed.ts";
import { createPanelIcon } from "./panel.ts";
import { openSystray } from "./systray.ts";
import { hasXembedTray } from "./xembed.ts";

/** At login, and when it restarts, a panel comes a little later. */
const panelGraceMs = 3_000;
const lookAgainMs = 15_000;

const noPlace =
  "no place for an icon: this desktop has no tray. On GNOME add the AppIndicator extension, elsewhere a panel or bar " +
  "with a tray; the icon then comes by itself. beckon goes on without one.";
const noBus =
  "no place for an icon: the session bus does not answer. The icon comes with it; beckon goes on without one.";
const failed = "the tray that is here is of the old kind, and systray2's helper for those did not start";
const noDesktop =
  "no place for an icon: no desktop here (no session bus, no tray). beckon goes on without one.";

export const openLinuxTray: OpenTray = async (options) => {
  const { env } = process;
  const fallback = createFallback(options);
  let timer: ReturnType<typeof setTimeout> | null = null;
  let view: TrayView | null = null;
  let isToldOf = false;
  let why = noPlace;

  function stopLooking(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  }
  function lookIn(ms: number): void {
    stopLooking();
    const mine = setTimeout(async () => {
      if (fallback.isSettled()) return;
      const hasTray = await hasXembedTray(env);
      // Meanwhile a panel may have come, or we were stopped.
      if (timer !== mine) return;
      if (hasTray) return fallback.open(view);
      if (!isToldOf) options.onProblem(why);
      isToldOf = true;
      lookIn(lookAgainMs);
    }, ms);
    timer = mine;
  }

  const panel = createPanelIcon({
    address: () => findBusAddress(env),
    onAction: options.onAction,
    onProblem: options.onProblem,
    onPlace(hasPlace) {
      if (!hasPlace) return lookIn(panelGraceMs);
      stopLooking();
      void fallback.close();
    },
  });
  if (!(await panel.hasBus)) {
    if (mayHaveBus(env)) {
      why = noBus;
      lookIn(panelGraceMs);
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
      const inPanel = await panel.about();
      if (inPanel.missing === null) return inPanel;
      const helper = await fallback.about();
      if (helper?.missing === null) return { ...helper, way: "XEmbed tray, by systray2" };
      return fallback.hasFailed() ? { ...inPanel, missing: failed } : inPanel;
    },
    async stop() {
      stopLooking();
      panel.stop();
      await fallback.close();
    },
  };
};

/** systray2's helper, there or not; one that could not be opened is not tried again. */
function createFallback(options: TrayOptions) {
  let opening: Promise<Tray | null> | null = null;
  let tray: Tray | null = null;
  let hasFailed = false;
  let waiting: TrayView | null = null;

  return {
    isSettled: () => opening !== null || hasFailed,
    hasFailed: () => hasFailed,
    about: async () => tray?.report() ?? null,
    open(view: TrayView | null): void {
      if (opening !== null || hasFailed) return;
      waiting = view;
      const mine = openSystray(options, readPng);
      opening = mine;
      void mine.then((opened) => {
        if (opening !== mine) return opened?.stop();
        tray = opened;
        hasFailed = opened === null;
        if (waiting !== null) tray?.show(waiting);
      });
    },
    show(view: TrayView): void {
      waiting = view;
      tray?.show(view);
    },
    async close(): Promise<void> {
      const open = tray;
      opening = null;
      tray = null;
      await open?.stop();
    },
  };
}
