/** KDE Plasma on Wayland. On X11 KWin keeps to EWMH, and X11 does it. */
import { numberOf, readWindows, textOf, type WindowFields } from "./listed.ts";
import { kwin, type Plan, type Window } from "./plan.ts";
import type { WindowRow } from "./row.ts";

const uuid = /^\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}$/;

/** Plasma 5 calls its windows clients. */
const all = "(workspace.windowList ? workspace.windowList() : workspace.clientList())";
const listing = `${all}.map((w) => ({ id: String(w.internalId), pid: w.pid, title: w.caption, active: w.active }))`;
const raising = (id: string): string => `(() => {
  const w = ${all}.find((one) => String(one.internalId) === ${JSON.stringify(id)});
  if (!w) return false;
  w.minimized = false;
  if (workspace.windowList) workspace.activeWindow = w;
  else workspace.activeClient = w;
  return w.active;
})()`;

export const row: WindowRow = {
  name: "KDE",
  proven: "run here",
  rules: ({ platform, env }) =>
    platform === "linux" && Boolean(env.WAYLAND_DISPLAY) && /\bKDE\b/i.test(env.XDG_CURRENT_DESKTOP ?? ""),
  *list(): Plan<readonly Window[] | null> {
    return readWindows(yield* kwin(listing), readWindow);
  },
  *raise({ id }) {
    const isFront = yield* kwin(raising(id));
    return isFront === true ? null : "KWin did not bring its window to the front";
  },
  excuse: "KWin did not list its windows over D-Bus",
};

function readWindow({ id, pid, title, active }: WindowFields): Window | null {
  if (typeof id !== "string" || !uuid.test(id)) return null;
  return { id, pid: numberOf(pid), title: textOf(title), active: active === true };
}
