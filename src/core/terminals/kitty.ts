/** kitty: the pane by its remote control, if the user has turned that on; otherwise only the window. */
import { type JsonRecord, listRecords, readNumber } from "../json.ts";
import { matchProcess, queryWindow } from "./lineage.ts";
import { askKitty, callKitty, filterOwnSockets, type Plan, readSockets } from "./plan.ts";
import {
  inApplications,
  notVisible,
  type PaneLocation,
  type Terminal,
  type WindowQuery,
} from "./terminal.ts";
import { commonVariables, digits, path, readVariable } from "./variables.ts";

interface Pane {
  readonly id: number;
  readonly pid: number | null;
  readonly isShown: boolean;
  /** X11 only. */
  readonly windowId: string | null;
}

const remoteControlAdvice =
  "kitty's remote control is off: put `allow_remote_control socket-only` and `listen_on unix:/tmp/kitty` " +
  "into kitty.conf, and restart kitty";

const variables = {
  KITTY_WINDOW_ID: digits(9),
  // On this machine only. `@` is a socket without a file.
  KITTY_LISTEN_ON: new RegExp(
    `^(?:unix:(?:@[\\w.-]{1,100}|${path})|tcp:(?:127\\.0\\.0\\.1|localhost):\\d{1,5})$`,
    "u",
  ),
};
const processes = ["kitty"];
const bundleId = "net.kovidgoyal.kitty";

export const kitty: Terminal = {
  name: "kitty",
  kind: "terminal",
  processes,
  term: "xterm-kitty",
  termProgram: "kitty",
  variables,
  ownVariables: ["KITTY_WINDOW_ID"],
  sessionVariable: "KITTY_WINDOW_ID",
  bundleId,
  commands: ["kitty"],
  macApps: [inApplications("kitty")],
  reach: "pane",
  needs: "remote control turned on in kitty.conf",
  remark: "Without it, the window",
  isTested: true,
  checkSettings({ env, sessions, configHome, readFile }) {
    const conf = readFile(`${env.KITTY_CONFIG_DIRECTORY || `${configHome}/kitty`}/kitty.conf`);
    if (allowsRemoteControl(conf) || env.KITTY_LISTEN_ON) return { reach: "pane", advice: null };
    // Advice about a terminal that is installed but never used would be noise.
    const isUsed = [env, ...sessions].some(({ KITTY_WINDOW_ID }) => Boolean(KITTY_WINDOW_ID));
    return { reach: "window", advice: isUsed ? remoteControlAdvice : null };
  },
  *focus(location, { platform }) {
    const address = yield* findAddress(location);
    const pane = address === null ? null : yield* findPane(address, location);
    const focused =
      address === null || pane === null
        ? null
        : yield* callKitty(address, "focus-window", { match: `id:${pane.id}` });
    const limit = focused === null ? remoteControlAdvice : null;
    if (limit === null && platform === "darwin") return { kind: "front", limit };
    return { kind: "window", query: query(location, pane), limit };
  },
  *checkVisibility(location) {
    const address = yield* findAddress(location);
    const pane = address === null ? null : yield* findPane(address, location);
    if (pane !== null && !pane.isShown) return notVisible;
    return { kind: "window", query: query(location, pane), isCertain: pane !== null };
  },
};

function query(location: PaneLocation, pane: Pane | null): WindowQuery {
  const id = pane?.windowId ?? readVariable(location.env, commonVariables, "WINDOWID");
  return queryWindow(location, { ids: [...(id === null ? [] : [id]), bundleId] });
}

const isKitty = matchProcess(processes);

/** The socket must belong to this user or, if it has no file, to the kitty around the session. */
function* findAddress({ env, lineage }: PaneLocation): Plan<string | null> {
  const address = readVariable(env, variables, "KITTY_LISTEN_ON");
  const file = address?.startsWith("unix:") ? address.slice("unix:".length) : null;
  if (file === null) return address;
  const terminals = file.startsWith("@") ? lineage.filter(isKitty).slice(0, 1) : [];
  const sockets = [...(yield* filterOwnSockets([file]))];
  for (const { pid } of terminals) sockets.push(...(yield* readSockets(pid)));
  return sockets.includes(file) ? address : null;
}

/** By the process that kitty started in it. The variable counts only without processes: a shell may have inherited it. */
function* findPane(address: string, location: PaneLocation): Plan<Pane | null> {
  const pids = location.lineage.map(({ pid }) => pid);
  const paneId = readVariable(location.env, variables, "KITTY_WINDOW_ID");
  const panes = readPanes(yield* askKitty(address, "ls"));
  const byProcess = panes.filter(({ pid }) => pid !== null && pids.includes(pid));
  const byVariable = panes.filter(({ id }) => String(id) === paneId);
  const [pane] = byProcess.length === 1 ? byProcess : location.lineage.length === 0 ? byVariable : [];
  return pane ?? null;
}

/** kitty's "OS windows" have tabs, and these have its "windows". */
function readPanes(osWindows: unknown): Pane[] {
  return listRecords(osWindows).flatMap(({ platform_window_id, tabs }) => {
    const windowId = typeof platform_window_id === "number" ? String(platform_window_id) : null;
    return listRecords(tabs).flatMap((tab) => {
      const windows = listRecords(tab.windows);
      return windows.flatMap((window) => {
        const { id, pid } = window;
        if (typeof id !== "number") return [];
        const isShown = isActive(tab) && (isActive(window) || windows.length === 1);
        return [{ id, pid: readNumber(pid), isShown, windowId }];
      });
    });
  });
}

/** `is_active` stays with the tab that its window shows. kitty before 0.24 has only `is_focused`. */
const isActive = ({ is_active, is_focused }: JsonRecord): boolean =>
  typeof is_active === "boolean" ? is_active : is_focused === true;

/** In kitty.conf the last value of a setting counts. */
function allowsRemoteControl(conf: string | null): boolean {
  const last = (name: string) =>
    [...(conf ?? "").matchAll(new RegExp(`^\\s*${name}\\s+(\\S+)`, "gm"))].at(-1)?.[1];
  const allowed = last("allow_remote_control") ?? "no";
  return !/^(no|n|false|password)$/.test(allowed) && (last("listen_on") ?? "none") !== "none";
}
