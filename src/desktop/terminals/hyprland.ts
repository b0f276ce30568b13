/** Hyprland. */
import { numberOf, readListed, textOf, type WindowFields } from "./listed.ts";
import { run, type Window } from "./plan.ts";
import type { WindowRow } from "./row.ts";

const address = /^0x[0-9a-f]{1,16}$/;

export const row: WindowRow = {
  name: "Hyprland",
  proven: "by documentation",
  rules: ({ platform, env }) => platform === "linux" && Boolean(env.HYPRLAND_INSTANCE_SIGNATURE),
  *list() {
    const ran = yield* run(["hyprctl", "clients", "-j"]);
    return ran.code === 0 ? readListed(ran.stdout, readClient) : null;
  },
  *raise({ id }) {
    const ran = yield* run(["hyprctl", "dispatch", "focuswindow", `address:${id}`]);
    return ran.code === 0 && ran.stdout.trim() === "ok"
      ? null
      : "Hyprland did not bring its window to the front";
  },
};

/** The one that was focused last has history 0. */
function readClient({ address: id, pid, title, focusHistoryID }: WindowFields): Window | null {
  if (typeof id !== "string" || !address.test(id)) return null;
  return { id, pid: numberOf(pid), title: textOf(title), active: focusHistoryID === 0 };
}
