/** X11, and Xwayland: any window manager that keeps to EWMH. Minimised windows and other workspaces too. */
import { displayNumber } from "../x11.ts";
import { activate, outerWindow, type Plan, type Window, windows } from "./plan.ts";
import type { WindowRow } from "./row.ts";

export const row: WindowRow = {
  name: "X11",
  proven: "run here",
  rules: ({ platform, env }) => platform !== "win32" && displayNumber(env.DISPLAY) !== null,
  *list(wanted): Plan<readonly Window[] | null> {
    const listed = yield* windows();
    if (listed === null) return null;
    // What a program names by WINDOWID can be a window inside the one that the window manager knows.
    const outer = new Map<string, string | null>();
    for (const id of wanted.ids.filter((one) => /^\d+$/.test(one))) outer.set(id, yield* outerWindow(id));
    return listed.map((window) => ({
      ...window,
      inside: wanted.ids.filter((id) => outer.get(id) === window.id),
    }));
  },
  *raise({ id }) {
    return (yield* activate(id)) ? null : "the window manager kept its window in the background";
  },
};
