/** WezTerm: by its own command line, which talks to the running window over a socket. */
import { describeTerminal, readVariable } from "../../core/terminals.ts";
import { queryWindow } from "./detect.ts";
import { filterOwnSockets, type Plan, run, type TerminalEnv } from "./plan.ts";
import { notVisible, type PaneLocation, type TerminalRecipe, type WindowQuery } from "./recipe.ts";

interface Pane {
  readonly id: string;
  readonly title: string;
  readonly socket: TerminalEnv;
}

const notFound = "WezTerm did not say which tab it is: check whether `wezterm cli list` works in a terminal";

export const wezterm: TerminalRecipe = {
  *focus(location) {
    const pane = yield* findPane(location);
    const activated =
      pane && (yield* run(["wezterm", "cli", "activate-pane", "--pane-id", pane.id], pane.socket));
    return { kind: "window", query: query(location, pane), limit: activated?.code === 0 ? null : notFound };
  },
  *checkVisibility(location) {
    const pane = yield* findPane(location);
    if (pane === null) return { kind: "window", query: query(location, null), isCertain: false };
    const { stdout } = yield* run(["wezterm", "cli", "list-clients", "--format", "json"], pane.socket);
    const focusedPanes = parseList(stdout).map(({ focused_pane_id }) => String(focused_pane_id));
    if (focusedPanes.length > 0 && !focusedPanes.includes(pane.id)) return notVisible;
    return { kind: "window", query: query(location, pane), isCertain: focusedPanes.length > 0 };
  },
};

function query(location: PaneLocation, pane: Pane | null): WindowQuery {
  const titles = [pane?.title ?? "", location.title ?? ""].filter((title) => title !== "");
  return queryWindow(location, { titles, ids: [describeTerminal("wezterm").bundleId] });
}

/** By tty: the variable may be inherited, and its number is that of one server only. */
function* findPane(location: PaneLocation): Plan<Pane | null> {
  const path = readVariable(location.env, "WEZTERM_UNIX_SOCKET");
  const [ownSocket] = path === null ? [] : yield* filterOwnSockets([path]);
  if (path !== null && ownSocket === undefined) return null;
  const socket: TerminalEnv = ownSocket === undefined ? {} : { WEZTERM_UNIX_SOCKET: ownSocket };
  const { stdout } = yield* run(["wezterm", "cli", "list", "--format", "json"], socket);
  const panes = parseList(stdout).filter(({ pane_id }) => Number.isInteger(pane_id));
  const byTty = location.tty === null ? [] : panes.filter(({ tty_name }) => tty_name === location.tty);
  const paneId = readVariable(location.env, "WEZTERM_PANE");
  const byVariable =
    location.lineage.length > 0 && location.tty !== null
      ? []
      : panes.filter(({ pane_id }) => String(pane_id) === paneId);
  const [pane, ...others] = byTty.length > 0 ? byTty : byVariable;
  if (pane === undefined || others.length > 0) return null;
  const title = [pane.window_title, pane.title].find(
    (text): text is string => typeof text === "string" && text !== "",
  );
  return { id: String(pane.pane_id), title: title ?? "", socket };
}

type Fields = Readonly<Record<string, unknown>>;

function parseList(text: string): Fields[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list)
      ? list.filter((entry): entry is Fields => typeof entry === "object" && entry !== null)
      : [];
  } catch {
    return [];
  }
}
