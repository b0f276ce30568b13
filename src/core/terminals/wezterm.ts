/**
 * WezTerm: by its own command line, which talks to the running window over a socket
 * (https://wezterm.org/cli/cli/activate-pane.html).
 */
import { type JsonRecord, listRecords, parseJson } from "../json.ts";
import { queryWindow } from "./lineage.ts";
import { ask, filterOwnSockets, type Plan, run, type TerminalEnv } from "./plan.ts";
import {
  inApplications,
  notVisible,
  type PaneLocation,
  type Terminal,
  type WindowQuery,
} from "./terminal.ts";
import { digits, readVariable, wholePath } from "./variables.ts";

interface Pane {
  readonly id: string;
  readonly title: string;
  readonly socket: TerminalEnv;
}

const notFound = "WezTerm did not say which tab it is: check whether `wezterm cli list` works in a terminal";

const variables = { WEZTERM_PANE: digits(9), WEZTERM_UNIX_SOCKET: wholePath };
const bundleId = "com.github.wez.wezterm";

export const wezterm: Terminal = {
  name: "WezTerm",
  kind: "terminal",
  processes: ["wezterm-gui", "wezterm", "wezterm-mux-server"],
  termProgram: "WezTerm",
  variables,
  ownVariables: ["WEZTERM_PANE"],
  sessionVariable: "WEZTERM_PANE",
  bundleId,
  commands: ["wezterm"],
  macApps: [inApplications("WezTerm")],
  reach: "pane",
  isTested: false,
  *focus(location) {
    const pane = yield* findPane(location);
    const activated =
      pane && (yield* run(["wezterm", "cli", "activate-pane", "--pane-id", pane.id], pane.socket));
    return { kind: "window", query: query(location, pane), limit: activated?.code === 0 ? null : notFound };
  },
  *checkVisibility(location) {
    const pane = yield* findPane(location);
    if (pane === null) return { kind: "window", query: query(location, null), isCertain: false };
    const { stdout } = yield* ask(["wezterm", "cli", "list-clients", "--format", "json"], pane.socket);
    const focusedPanes = parseList(stdout).map(({ focused_pane_id }) => String(focused_pane_id));
    if (focusedPanes.length > 0 && !focusedPanes.includes(pane.id)) return notVisible;
    return { kind: "window", query: query(location, pane), isCertain: focusedPanes.length > 0 };
  },
};

function query(location: PaneLocation, pane: Pane | null): WindowQuery {
  const titles = [pane?.title ?? "", location.title ?? ""].filter((title) => title !== "");
  return queryWindow(location, { titles, ids: [bundleId] });
}

/** By tty: the variable may be inherited, and its number is that of one server only. */
function* findPane(location: PaneLocation): Plan<Pane | null> {
  const path = readVariable(location.env, variables, "WEZTERM_UNIX_SOCKET");
  const [ownSocket] = path === null ? [] : yield* filterOwnSockets([path]);
  if (path !== null && ownSocket === undefined) return null;
  const socket: TerminalEnv = ownSocket === undefined ? {} : { WEZTERM_UNIX_SOCKET: ownSocket };
  const { stdout } = yield* ask(["wezterm", "cli", "list", "--format", "json"], socket);
  const panes = parseList(stdout).filter(({ pane_id }) => Number.isInteger(pane_id));
  const byTty = location.tty === null ? [] : panes.filter(({ tty_name }) => tty_name === location.tty);
  const paneId = readVariable(location.env, variables, "WEZTERM_PANE");
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

const parseList = (text: string): readonly JsonRecord[] => listRecords(parseJson(text));
