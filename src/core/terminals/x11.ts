/** X11 and Xwayland, with any window manager that follows EWMH. Also shows minimised windows and other workspaces. */
import { activateWindow, findTopLevelWindow, listWindows, type Plan, type WindowInfo } from "./plan.ts";
import type { WindowSystem } from "./terminal.ts";

export const x11: WindowSystem = {
  name: "X11",
  platforms: ["linux", "darwin", "freebsd", "openbsd"],
  // A display of this machine: `:0`, `:0.0`, `unix:0`.
  variables: { DISPLAY: /^(?:unix)?:\d{1,5}(?:\.\d{1,3})?$/ },
  remark: "any window manager that follows EWMH",
  isTested: true,
  *list(query): Plan<readonly WindowInfo[] | null> {
    const windows = yield* listWindows();
    if (windows === null) return null;
    // WINDOWID can be a window inside the one that the window manager knows.
    const topLevel = new Map<string, string | null>();
    for (const id of query.ids.filter((name) => /^\d+$/.test(name))) {
      topLevel.set(id, yield* findTopLevelWindow(id));
    }
    return windows.map((window) => ({
      ...window,
      childIds: query.ids.filter((id) => topLevel.get(id) === window.id),
    }));
  },
  *raise({ id }) {
    return (yield* activateWindow(id)) ? null : "the window manager kept its window in the background";
  },
};
