/** Wayland compositors: each has its own command that lists windows as JSON and focuses one. GNOME allows neither. */
import { immediate, run, type WindowInfo } from "./plan.ts";
import type { WindowSystemRecipe } from "./recipe.ts";

export type WindowFields = Readonly<Record<string, unknown>>;

/** null if it is not a list. Entries that `read` returns null for are left out. */
export function readWindowList(
  list: unknown,
  read: (fields: WindowFields) => WindowInfo | null,
): WindowInfo[] | null {
  if (!Array.isArray(list)) return null;
  return list.flatMap((entry) =>
    typeof entry === "object" && entry !== null ? (read(entry as WindowFields) ?? []) : [],
  );
}

export const readText = (value: unknown): string => (typeof value === "string" ? value : "");
export const readPositive = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Also i3, but its tree has no pids: there X11 is used. */
export const sway: WindowSystemRecipe = {
  *list() {
    const { code, stdout } = yield* run(["swaymsg", "-r", "-t", "get_tree"]);
    const tree = code === 0 ? parseJson(stdout) : null;
    return typeof tree === "object" && tree !== null ? [...swayWindows(tree as WindowFields)] : null;
  },
  *raise({ id }) {
    const { code } = yield* run(["swaymsg", `[con_id=${id}] focus`]);
    return code === 0 ? null : "sway did not bring its window to the front";
  },
};

function* swayWindows(node: WindowFields): Generator<WindowInfo> {
  if (typeof node.pid === "number" && Number.isSafeInteger(node.id)) {
    yield { id: String(node.id), pid: node.pid, title: readText(node.name), active: node.focused === true };
  }
  for (const children of [node.nodes, node.floating_nodes]) {
    for (const child of Array.isArray(children) ? children : []) {
      if (typeof child === "object" && child !== null) yield* swayWindows(child);
    }
  }
}

export const hyprland: WindowSystemRecipe = {
  *list() {
    const { code, stdout } = yield* run(["hyprctl", "clients", "-j"]);
    return code === 0 ? readWindowList(parseJson(stdout), readHyprlandClient) : null;
  },
  *raise({ id }) {
    const { code, stdout } = yield* run(["hyprctl", "dispatch", "focuswindow", `address:${id}`]);
    return code === 0 && stdout.trim() === "ok" ? null : "Hyprland did not bring its window to the front";
  },
};

/** The client that was focused last has history 0. */
function readHyprlandClient({ address, pid, title, focusHistoryID }: WindowFields): WindowInfo | null {
  if (typeof address !== "string" || !/^0x[0-9a-f]{1,16}$/.test(address)) return null;
  return { id: address, pid: readPositive(pid), title: readText(title), active: focusHistoryID === 0 };
}

export const niri: WindowSystemRecipe = {
  *list() {
    const { code, stdout } = yield* run(["niri", "msg", "--json", "windows"]);
    return code === 0 ? readWindowList(parseJson(stdout), readNiriWindow) : null;
  },
  *raise({ id }) {
    const { code } = yield* run(["niri", "msg", "action", "focus-window", "--id", id]);
    return code === 0 ? null : "niri did not bring its window to the front";
  },
};

function readNiriWindow({ id, pid, title, is_focused }: WindowFields): WindowInfo | null {
  const number = readPositive(id);
  if (number === null) return null;
  return { id: String(number), pid: readPositive(pid), title: readText(title), active: is_focused === true };
}

/** Windows under Xwayland are X11's. */
export const gnomeWayland: WindowSystemRecipe = {
  list: () => immediate(null),
  raise: () => immediate(null),
  noWindowReason:
    "GNOME on Wayland does not let programs bring other windows to the front: press Alt+Tab, or log in to GNOME on Xorg",
};
