/** kitty: by its remote control where the person has switched that on, else as far as the window. */
import { wantedOf } from "./around.ts";
import { kitty, ownSockets, type Plan, socketsOf } from "./plan.ts";
import { hidden, named, type PaneLocation, programIs, type TerminalRow, type Wanted } from "./row.ts";
import { claimed } from "./shapes.ts";

interface Pane {
  readonly id: number;
  readonly shown: boolean;
  /** X11 only. */
  readonly window: string | null;
}

const is = named("kitty");
/** For people. */
export const howTo =
  "kitty was not told to let others switch its tabs: put `allow_remote_control socket-only` and " +
  "`listen_on unix:/tmp/kitty` into kitty.conf, and restart kitty";

function wanted(spot: PaneLocation, window: string | null): Wanted {
  const id = window ?? claimed(spot.env, "WINDOWID");
  return wantedOf(spot, { ids: [...(id === null ? [] : [id]), "net.kovidgoyal.kitty"] });
}

export const row: TerminalRow = {
  name: "kitty",
  proven: "run here",
  is,
  says: (env) =>
    claimed(env, "KITTY_WINDOW_ID") !== null && (programIs(env, "kitty") || env.TERM === "xterm-kitty"),
  *focus(spot, { platform }) {
    const address = yield* addressOf(spot);
    const pane = address === null ? null : yield* find(address, spot);
    if (address === null || pane === null) return { kind: "window", wanted: wanted(spot, null), why: howTo };
    const done = yield* kitty(address, "focus-window", { match: `id:${pane.id}` });
    if (done === null) return { kind: "window", wanted: wanted(spot, pane.window), why: howTo };
    if (platform === "darwin") return { kind: "front", why: null };
    return { kind: "window", wanted: wanted(spot, pane.window), why: null };
  },
  *look(spot) {
    const address = yield* addressOf(spot);
    const pane = address === null ? null : yield* find(address, spot);
    if (pane !== null && !pane.shown) return hidden;
    return { kind: "window", wanted: wanted(spot, pane?.window ?? null), sure: pane !== null };
  },
};

/** A socket of this user's or, without a file, of the very kitty that we are in. */
function* addressOf({ env, lineage }: PaneLocation): Plan<string | null> {
  const address = claimed(env, "KITTY_LISTEN_ON");
  const path = address?.startsWith("unix:") ? address.slice("unix:".length) : null;
  if (path === null) return address;
  const terminals = path.startsWith("@") ? lineage.filter(is).slice(0, 1) : [];
  const own = [...(yield* ownSockets([path]))];
  for (const { pid } of terminals) own.push(...(yield* socketsOf(pid)));
  return own.includes(path) ? address : null;
}

/** By the process that kitty started in it; the variable is the second best: a shell may have inherited it. */
function* find(address: string, spot: PaneLocation): Plan<Pane | null> {
  const pids = spot.lineage.map(({ pid }) => pid);
  const claim = claimed(spot.env, "KITTY_WINDOW_ID");
  const panes = readWindows(yield* kitty(address, "ls", {}));
  const found = panes.filter(({ pid }) => pid !== null && pids.includes(pid));
  const named = panes.filter(({ id }) => String(id) === claim);
  const [pane] = found.length === 1 ? found : spot.lineage.length === 0 ? named : [];
  return pane ?? null;
}

type Fields = Readonly<Record<string, unknown>>;
const listOf = (value: unknown): Fields[] =>
  Array.isArray(value) ? value.filter((one): one is Fields => typeof one === "object" && one !== null) : [];

/** kitty's "OS windows" have tabs, and these have its "windows". */
function readWindows(listed: unknown): (Pane & { pid: number | null })[] {
  return listOf(listed).flatMap((outer) =>
    listOf(outer.tabs).flatMap((tab) => {
      const inTab = listOf(tab.windows);
      return inTab.flatMap((inner) => {
        if (typeof inner.id !== "number") return [];
        const isOnTop = isActive(tab) && (isActive(inner) || inTab.length === 1);
        const window = typeof outer.platform_window_id === "number" ? String(outer.platform_window_id) : null;
        return [
          { id: inner.id, pid: typeof inner.pid === "number" ? inner.pid : null, shown: isOnTop, window },
        ];
      });
    }),
  );
}

/** `is_active` stays with the tab that its window shows; kitty before 0.24 has only `is_focused`. */
const isActive = ({ is_active, is_focused }: Fields): boolean =>
  typeof is_active === "boolean" ? is_active : is_focused === true;
