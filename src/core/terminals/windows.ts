/** The desktop of Windows. */
import { activateWindow, listWindows } from "./plan.ts";
import type { WindowSystem } from "./terminal.ts";

export const windows: WindowSystem = {
  name: "Windows",
  platforms: ["win32"],
  isTested: false,
  list: () => listWindows(),
  *raise({ id }) {
    return (yield* activateWindow(id))
      ? null
      : "Windows kept its window in the background: it blinks in the taskbar";
  },
};
