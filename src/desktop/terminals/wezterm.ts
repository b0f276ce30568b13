/** WezTerm: by its own command line, which talks to the running window over a socket. */
import { wantedOf } from "./around.ts";
import { type Env, ownSockets, type Plan, run } from "./plan.ts";
import { hidden, named, type PaneLocation, programIs, type TerminalRow, type Wanted } from "./row.ts";
import { claimed } from "./shapes.ts";

interface Pane {
  readonly id: string;
  readonly title: string;
  readonly socket: Env;
}

const is = named("wezterm-gui", "wezterm", "wezterm-mux-server");
const howTo = "WezTerm did not say which tab it is: see whether `wezterm cli list` works in a terminal";

function wanted(spot: PaneLocation, pane: Pane | null): Wanted {
  const titles = [pane?.title ?? "", spot.title ?? ""].filter((title) => title !== "");
  return wantedOf(spot, { titles, ids: ["com.github.wez.wezterm"] });
}

export const row: TerminalRow = {
  name: "WezTerm",
  proven: "by documentation",
  is,
  says: (env) => programIs(env, "WezTerm") && claimed(env, "WEZTERM_PANE") !== null,
  *focus(spot) {
    const pane = yield* find(spot);
    const ran = pane && (yield* run(["wezterm", "cli", "activate-pane", "--pane-id", pane.id], pane.socket));
    const why = ran?.code === 0 ? null : howTo;
    return { kind: "window", wanted: wanted(spot, pane), why };
  },
  *look(spot) {
    const pane = yield* find(spot);
    if (pane === null) return { kind: "window", wanted: wanted(spot, null), sure: false };
    const ran = yield* run(["wezterm", "cli", "list-clients", "--format", "json"], pane.socket);
    const shown = readList(ran.stdout).map(({ focused_pane_id }) => String(focused_pane_id));
    if (shown.length > 0 && !shown.includes(pane.id)) return hidden;
    return { kind: "window", wanted: wanted(spot, pane), sure: shown.length > 0 };
  },
};

/** By tty: a variable may be inherited, and numbers are those of one server only. */
function* find(spot: PaneLocation): Plan<Pane | null> {
  const path = claimed(spot.env, "WEZTERM_UNIX_SOCKET");
  const [own] = path === null ? [] : yield* ownSockets([path]);
  if (path !== null && own === undefined) return null;
  const socket: Env = own === undefined ? {} : { WEZTERM_UNIX_SOCKET: own };
  const ran = yield* run(["wezterm", "cli", "list", "--format", "json"], socket);
  const panes = readList(ran.stdout).filter(({ pane_id }) => Number.isInteger(pane_id));
  const byTty = spot.tty === null ? [] : panes.filter(({ tty_name }) => tty_name === spot.tty);
  const claim = claimed(spot.env, "WEZTERM_PANE");
  const byClaim =
    spot.lineage.length > 0 && spot.tty !== null
      ? []
      : panes.filter(({ pane_id }) => String(pane_id) === claim);
  const [pane, ...others] = byTty.length > 0 ? byTty : byClaim;
  if (pane === undefined || others.length > 0) return null;
  const title = [pane.window_title, pane.title].find(
    (text): text is string => typeof text === "string" && text !== "",
  );
  return { id: String(pane.pane_id), title: title ?? "", socket };
}

type Fields = Readonly<Record<string, unknown>>;

function readList(text: string): Fields[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list)
      ? list.filter((one): one is Fields => typeof one === "object" && one !== null)
      : [];
  } catch {
    return [];
  }
}
