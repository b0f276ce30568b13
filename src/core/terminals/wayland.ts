/** Wayland compositors: each has its own command that lists windows as JSON and focuses one. GNOME allows neither. */
import { asText, isRecord, type JsonRecord, listRecords, parseJson, readPositive } from "../json.ts";
import { ask, immediate, run, type WindowInfo } from "./plan.ts";
import type { WindowSystem } from "./terminal.ts";
import { isSet } from "./variables.ts";

/** null if it is not a list. Entries that `read` returns null for are left out. */
export function readWindowList(
  list: unknown,
  read: (fields: JsonRecord) => WindowInfo | null,
): WindowInfo[] | null {
  if (!Array.isArray(list)) return null;
  return listRecords(list).flatMap((entry) => read(entry) ?? []);
}

/** Also i3, but its tree has no pids: there X11 is used. */
export const sway: WindowSystem = {
  name: "sway",
  platforms: ["linux"],
  variables: { SWAYSOCK: isSet },
  isTested: true,
  *list() {
    const { code, stdout } = yield* ask(["swaymsg", "-r", "-t", "get_tree"]);
    const tree = code === 0 ? parseJson(stdout) : null;
    return isRecord(tree) ? [...swayWindows(tree)] : null;
  },
  *raise({ id }) {
    const { code } = yield* run(["swaymsg", `[con_id=${id}] focus`]);
    return code === 0 ? null : "sway did not bring its window to the front";
  },
};

function* swayWindows(node: JsonRecord): Generator<WindowInfo> {
  if (typeof node.pid === "number" && Number.isSafeInteger(node.id)) {
    yield { id: String(node.id), pid: node.pid, title: asText(node.name), active: node.focused === true };
  }
  for (const children of [node.nodes, node.floating_nodes]) {
    for (const child of listRecords(children)) yield* swayWindows(child);
  }
}

/** `dispatch` prints "ok", or what went wrong: https://man.archlinux.org/man/hyprctl.1.en */
export const hyprland: WindowSystem = {
  name: "Hyprland",
  platforms: ["linux"],
  variables: { HYPRLAND_INSTANCE_SIGNATURE: isSet },
  isTested: false,
  *list() {
    const { code, stdout } = yield* ask(["hyprctl", "clients", "-j"]);
    return code === 0 ? readWindowList(parseJson(stdout), readHyprlandClient) : null;
  },
  *raise({ id }) {
    const { code, stdout } = yield* run(["hyprctl", "dispatch", "focuswindow", `address:${id}`]);
    return code === 0 && stdout.trim() === "ok" ? null : "Hyprland did not bring its window to the front";
  },
};

/** The client that was focused last has history 0. */
function readHyprlandClient({ address, pid, title, focusHistoryID }: JsonRecord): WindowInfo | null {
  if (typeof address !== "string" || !/^0x[0-9a-f]{1,16}$/.test(address)) return null;
  return { id: address, pid: readPositive(pid), title: asText(title), active: focusHistoryID === 0 };
}

export const niri: WindowSystem = {
  name: "niri",
  platforms: ["linux"],
  variables: { NIRI_SOCKET: isSet },
  isTested: false,
  *list() {
    const { code, stdout } = yield* ask(["niri", "msg", "--json", "windows"]);
    return code === 0 ? readWindowList(parseJson(stdout), readNiriWindow) : null;
  },
  *raise({ id }) {
    const { code } = yield* run(["niri", "msg", "action", "focus-window", "--id", id]);
    return code === 0 ? null : "niri did not bring its window to the front";
  },
};

function readNiriWindow({ id, pid, title, is_focused }: JsonRecord): WindowInfo | null {
  const number = readPositive(id);
  if (number === null) return null;
  return { id: String(number), pid: readPositive(pid), title: asText(title), active: is_focused === true };
}

/**
 * Mutter gives a window the focus only by a token that its own program got (https://gitlab.gnome.org/GNOME/mutter/-/issues/3486). Windows
 * under Xwayland are X11's.
 */
export const gnomeWayland: WindowSystem = {
  name: "GNOME on Wayland",
  platforms: ["linux"],
  variables: { WAYLAND_DISPLAY: isSet, XDG_CURRENT_DESKTOP: /\bGNOME\b/i },
  remark: "not possible: GNOME does not allow it, and beckon says so",
  isTested: false,
  list: () => immediate(null),
  raise: () => immediate(null),
  noWindowReason:
    "GNOME on Wayland does not let programs bring other windows to the front: press Alt+Tab, or log in to GNOME on Xorg",
};
