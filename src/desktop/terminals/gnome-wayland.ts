/** GNOME on Wayland lets no program bring another's window to the front. Windows under Xwayland are X11's. */
import { just } from "./plan.ts";
import type { WindowRow } from "./row.ts";

export const row: WindowRow = {
  name: "GNOME on Wayland",
  proven: "by documentation",
  rules: ({ platform, env }) =>
    platform === "linux" && Boolean(env.WAYLAND_DISPLAY) && /\bGNOME\b/i.test(env.XDG_CURRENT_DESKTOP ?? ""),
  list: () => just(null),
  raise: () => just(null),
  excuse:
    "GNOME on Wayland lets no program bring another's window to the front: press Alt+Tab, or log in to GNOME on Xorg",
};
