/** niri. */
import { numberOf, readListed, textOf, type WindowFields } from "./listed.ts";
import { run, type Window } from "./plan.ts";
import type { WindowRow } from "./row.ts";

export const row: WindowRow = {
  name: "niri",
  proven: "by documentation",
  rules: ({ platform, env }) => platform === "linux" && Boolean(env.NIRI_SOCKET),
  *list() {
    const ran = yield* run(["niri", "msg", "--json", "windows"]);
    return ran.code === 0 ? readListed(ran.stdout, readWindow) : null;
  },
  *raise({ id }) {
    const ran = yield* run(["niri", "msg", "action", "focus-window", "--id", id]);
    return ran.code === 0 ? null : "niri did not bring its window to the front";
  },
};

function readWindow({ id, pid, title, is_focused }: WindowFields): Window | null {
  const name = numberOf(id);
  if (name === null) return null;
  return { id: String(name), pid: numberOf(pid), title: textOf(title), active: is_focused === true };
}
