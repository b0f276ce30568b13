/** sway (and i3, whose tree has no pids: there X11 does it). */
import { run, type Window } from "./plan.ts";
import type { WindowRow } from "./row.ts";

export const row: WindowRow = {
  name: "sway",
  proven: "run here",
  rules: ({ platform, env }) => platform === "linux" && Boolean(env.SWAYSOCK),
  *list() {
    const ran = yield* run(["swaymsg", "-r", "-t", "get_tree"]);
    return ran.code === 0 ? readTree(ran.stdout) : null;
  },
  *raise({ id }) {
    const ran = yield* run(["swaymsg", `[con_id=${id}] focus`]);
    return ran.code === 0 ? null : "sway did not bring its window to the front";
  },
};

interface Node {
  readonly id?: unknown;
  readonly pid?: unknown;
  readonly name?: unknown;
  readonly focused?: unknown;
  readonly nodes?: unknown;
  readonly floating_nodes?: unknown;
}

function readTree(text: string): Window[] | null {
  try {
    return [...leaves(JSON.parse(text) as Node)];
  } catch {
    return null;
  }
}

function* leaves(node: Node): Generator<Window> {
  if (typeof node.pid === "number" && Number.isSafeInteger(node.id)) {
    const title = typeof node.name === "string" ? node.name : "";
    yield { id: String(node.id), pid: node.pid, title, active: node.focused === true };
  }
  for (const children of [node.nodes, node.floating_nodes]) {
    if (Array.isArray(children)) for (const child of children as Node[]) yield* leaves(child);
  }
}
