/** KDE Plasma on Wayland, by scripts that KWin evaluates. On X11 KWin follows EWMH, and X11 is used. */
import { asText, type JsonRecord, readPositive } from "../json.ts";
import { changeInKwin, type Plan, readFromKwin, type WindowInfo } from "./plan.ts";
import type { WindowSystem } from "./terminal.ts";
import { isSet } from "./variables.ts";
import { readWindowList } from "./wayland.ts";

const windowId = /^\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}$/;

/** Plasma 5 calls its windows clients (https://discuss.kde.org/t/kwin-scripting-from-5-x-to-6-x-compatible/2905). */
const allWindows = "(workspace.windowList ? workspace.windowList() : workspace.clientList())";
const listScript = `${allWindows}.map((w) => ({ id: String(w.internalId), pid: w.pid, title: w.caption, active: w.active }))`;
const raiseScript = (id: string): string => `(() => {
  const w = ${allWindows}.find((one) => String(one.internalId) === ${JSON.stringify(id)});
  if (!w) return false;
  w.minimized = false;
  if (workspace.windowList) workspace.activeWindow = w;
  else workspace.activeClient = w;
  return w.active;
})()`;

export const kde: WindowSystem = {
  name: "KDE",
  platforms: ["linux"],
  variables: { WAYLAND_DISPLAY: isSet, XDG_CURRENT_DESKTOP: /\bKDE\b/i },
  remark: "Plasma on Wayland",
  isTested: true,
  *list(): Plan<readonly WindowInfo[] | null> {
    return readWindowList(yield* readFromKwin(listScript), readWindow);
  },
  *raise({ id }) {
    const isActive = yield* changeInKwin(raiseScript(id));
    return isActive === true ? null : "KWin did not bring its window to the front";
  },
  noWindowReason: "KWin did not list its windows over D-Bus",
};

function readWindow({ id, pid, title, active }: JsonRecord): WindowInfo | null {
  if (typeof id !== "string" || !windowId.test(id)) return null;
  return { id, pid: readPositive(pid), title: asText(title), active: active === true };
}
