/** The tray on Windows: an icon drawn by a thread with bun:ffi, or systray2's helper where that thread keeps dying. */

import type { UserAction } from "../../core/config/user-action.ts";
import type { OpenTray, Tray } from "../../core/interfaces/index.ts";
import type { TrayView } from "../../core/view/view.ts";
import { createThrottle } from "../coalesce.ts";
import { createNativeMenu } from "../windows/menu.ts";
import { joinTaskbar } from "../windows/taskbar.ts";
import { readIco } from "./icons.ts";
import { openSystray } from "./systray.ts";

const updateEveryMs = 100;

export const openWindowsTray: OpenTray = async (options) => {
  const { onAction, onProblem } = options;
  let view: TrayView | null = null;
  /** Used after the thread has died too often. */
  let fallback: Tray | null = null;
  let isStopped = false;

  async function onGivenUp(): Promise<void> {
    if (isStopped) return;
    fallback = await openSystray(options, readIco);
    if (isStopped) await fallback?.stop();
    else if (view) fallback?.show(view);
  }

  const taskbar = await joinTaskbar({ onChosen: onAction, onProblem, onGivenUp });
  if (taskbar === null) return openSystray(options, readIco);

  const updates = createThrottle((wanted: TrayView) => {
    view = wanted;
    if (fallback) return fallback.show(wanted);
    const next: UserAction | null = wanted.icon.phase === "blocked" ? { do: "next" } : null;
    taskbar.show({
      icon: readIco(wanted.icon),
      tip: formatTip(wanted.tooltip),
      menu: createNativeMenu(wanted.items),
      leftClick: wanted.leftClick === "nextWaiting" ? next : null,
      middleClick: next,
    });
  }, updateEveryMs);

  return {
    show: updates.set,
    report: async () => fallback?.report() ?? { way: "taskbar", host: "Explorer", missing: null },
    async stop() {
      isStopped = true;
      updates.stop();
      await Promise.all([taskbar.leave(), fallback?.stop()]);
    },
  };
};

/** An "&" in a tooltip underlines the next letter, and how often it must be doubled depends on the version of Windows. */
function formatTip(tooltip: string): string {
  return tooltip.replaceAll("&", "+");
}
