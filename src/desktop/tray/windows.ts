/** The tray on Windows: a window of its own in a thread, by bun:ffi; systray2's helper where that does not live. */

import type { OpenTray, Tray } from "../../core/ports.ts";
import type { TrayView } from "../../core/view/view.ts";
import { nativeMenu } from "../windows/menu.ts";
import { joinTaskbar } from "../windows/taskbar.ts";
import { readIco } from "./icons/windows.ts";
import { latest } from "./latest.ts";
import { openSystray } from "./systray.ts";

const updateEveryMs = 100;

export const openWindowsTray: OpenTray = async (options) => {
  const { onAction, onProblem } = options;
  let view: TrayView | null = null;
  /** Takes over once the thread has died too often. */
  let other: Tray | null = null;
  let isStopped = false;

  async function onLost(): Promise<void> {
    if (isStopped) return;
    other = await openSystray(options, readIco);
    if (isStopped) await other?.stop();
    else if (view) other?.show(view);
  }

  const taskbar = await joinTaskbar({ onChosen: onAction, onProblem, onLost });
  if (taskbar === null) return openSystray(options, readIco);

  const updates = latest((wanted: TrayView) => {
    view = wanted;
    if (other) other.show(wanted);
    else
      taskbar.show({
        icon: readIco(wanted.icon),
        tip: tipOf(wanted.tooltip),
        menu: nativeMenu(wanted.items),
      });
  }, updateEveryMs);

  return {
    show: updates.set,
    report: async () => other?.report() ?? { way: "taskbar", host: "Explorer", missing: null },
    async stop() {
      isStopped = true;
      updates.stop();
      await Promise.all([taskbar.leave(), other?.stop()]);
    },
  };
};

/** In a tooltip an "&" underlines the letter after it, and how often it must be doubled differs from version to version. */
function tipOf(tooltip: string): string {
  return tooltip.replaceAll("&", "+");
}
