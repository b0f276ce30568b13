/** tmux: selects the pane, and finds the client that shows it. Parents end at the server, and WINDOWID inside is outdated. */
import { quoteIfNeeded } from "../text/shell-quote.ts";
import { locateClient, matchProcess } from "./lineage.ts";
import { ask, filterOwnSockets, type Plan, type ProcessInfo, readSockets, run } from "./plan.ts";
import { ssh } from "./ssh.ts";
import {
  type FocusResult,
  impossible,
  notVisible,
  type PaneLocation,
  type Terminal,
  type TerminalContext,
  visibilityUnknown,
} from "./terminal.ts";
import { isTtyPath, path, readVariable } from "./variables.ts";

interface Pane {
  readonly id: string;
  readonly pid: number;
  readonly tty: string;
  readonly window: string;
  readonly session: string;
  /** Whether it is the active pane of its session's current window. */
  readonly isActive: boolean;
  readonly sessionName: string;
}

interface Client {
  readonly pid: number;
  readonly tty: string;
  readonly session: string;
  readonly usedAt: number;
}

interface ServerAnswer {
  readonly socket: string;
  /** The pane, once for each session that has its window. */
  readonly panes: readonly Pane[];
  /** All clients of the server, the last used first. */
  readonly clients: readonly Client[];
}

// Only the last field may contain a space. tmux turns tabs into `_` if it takes its client for one without UTF-8
// (https://github.com/moezakura/mux-pod/pull/108), which `-u` prevents for the name.
const paneFormat =
  "#{pane_id} #{pane_pid} #{pane_tty} #{window_id} #{session_id} #{pane_active}#{window_active} #{session_name}";
const clientFormat = "#{client_pid} #{client_tty} #{session_id} #{client_activity}";
const maxClients = 8;

const tmuxCommand = (socket: string, ...args: readonly string[]): readonly string[] => [
  ...["tmux", "-u", "-S", socket],
  ...args,
];

const noServer = impossible("it runs in tmux, but no tmux server answers for its pane");

// TMUX is socket,pid,session.
const variables = { TMUX: new RegExp(`^${path},\\d{1,10},\\d{1,10}$`, "u"), TMUX_PANE: /^%\d{1,9}$/ };

export const tmux: Terminal = {
  name: "tmux",
  kind: "multiplexer",
  processes: ["tmux", "tmux: server"],
  variables,
  ownVariables: ["TMUX_PANE"],
  sessionVariable: "TMUX_PANE",
  paneLabel: "tmux ",
  keepsPanes: true,
  commands: ["tmux"],
  reach: "pane",
  remark: "If no terminal shows it, beckon says how to attach one",
  isTested: true,
  *focus(location, context) {
    const answer = yield* askServers(location, context);
    const pane = answer?.panes[0];
    if (!answer || !pane) {
      const { endedPid } = location;
      return endedPid === undefined
        ? noServer
        : impossible(`its process ${endedPid} has ended and its tmux pane is closed`);
    }
    const { socket, panes, clients } = answer;
    const sessions = new Set(panes.map(({ session }) => session));
    const best = yield* chooseClient(clients, sessions, location);
    if (best === null) return detached(pane, socket, context);
    const { client } = best;
    const session = sessions.has(client.session) ? client.session : pane.session;
    const switchClient =
      session === client.session ? [] : ["switch-client", "-c", client.tty, "-t", session, ";"];
    const selectPane = [
      "select-window",
      "-t",
      `${session}:${pane.window}`,
      ";",
      "select-pane",
      "-t",
      pane.id,
    ];
    const selected = yield* run(tmuxCommand(socket, ...switchClient, ...selectPane));
    if (selected.code !== 0)
      return impossible(`tmux could not select the pane: ${firstLine(selected.stderr)}`);
    return { kind: "inside", location: best.location, limit: null };
  },
  *checkVisibility(location, context) {
    const answer = yield* askServers(location, context);
    if (answer === null) return visibilityUnknown;
    const sessions = new Set(answer.panes.filter(({ isActive }) => isActive).map(({ session }) => session));
    const clients = answer.clients.filter(({ session }) => sessions.has(session));
    if (clients.length === 0) return notVisible;
    const locations: PaneLocation[] = [];
    for (const client of clients.slice(0, maxClients)) locations.push(yield* locateClient(client, location));
    return { kind: "inside", locations, isCertain: true };
  },
};

function detached({ sessionName }: Pane, socket: string, context: TerminalContext): FocusResult {
  const name = quoteIfNeeded(sessionName);
  const isDefault = socket.endsWith(`/${socketFolder(context)}/default`);
  const attach = `tmux ${isDefault ? "" : `-S ${quoteIfNeeded(socket)} `}attach -t ${name}`;
  return impossible(`no terminal is attached to the tmux session ${name}: run \`${attach}\` in one`);
}

const socketFolder = ({ uid = 0 }: TerminalContext): string => `tmux-${uid}`;

const firstLine = (text: string): string =>
  text.trim().split("\n", 1)[0]?.slice(0, 200) || "it gave no reason";

function* askServers(location: PaneLocation, context: TerminalContext): Plan<ServerAnswer | null> {
  for (const socket of yield* findSockets(location, context)) {
    const { code, stdout } = yield* ask(
      tmuxCommand(socket, "list-panes", "-a", "-F", paneFormat, ";", "list-clients", "-F", clientFormat),
    );
    if (code !== 0) continue;
    const lines = stdout.split("\n");
    const panes = findPane(parsePanes(lines), location);
    if (panes.length > 0) return { socket, panes, clients: parseClients(lines) };
  }
  return null;
}

const isServer = ({ name }: ProcessInfo): boolean => name === "tmux: server";

/** The sockets that the server listens on, where the system shows them; otherwise TMUX and the usual folder. */
function* findSockets(location: PaneLocation, context: TerminalContext): Plan<readonly string[]> {
  const server = location.lineage.find(isServer);
  const listening = server === undefined ? [] : yield* filterOwnSockets(yield* readSockets(server.pid));
  if (listening.length > 0) return listening;
  const variable = readVariable(location.env, variables, "TMUX");
  const fromVariable = variable === null ? [] : [variable.replace(/,\d+,\d+$/, "")];
  const folder = `${context.env.TMUX_TMPDIR || "/tmp"}/${socketFolder(context)}/`;
  return [...new Set(yield* filterOwnSockets([...fromVariable, folder]))];
}

/** By what the system says (tty, parents) before the variables, which a nested shell may have inherited. */
function findPane(panes: readonly Pane[], location: PaneLocation): Pane[] {
  if (location.endedPid !== undefined) {
    // Its tty alone may belong to a newer pane, and its id to a newer server.
    const ownId = readVariable(location.env, variables, "TMUX_PANE");
    return panes.filter(({ id, tty }) => id === ownId && tty === location.tty);
  }
  const pids = new Set(location.lineage.map(({ pid }) => pid));
  const byTty = panes.filter(({ tty }) => tty === location.tty && isTtyPath(tty));
  if (byTty.length > 0) return byTty;
  const byParent = panes.filter(({ pid }) => pids.has(pid));
  if (byParent.length > 0) return byParent;
  const paneId = location.lineage.length === 0 ? readVariable(location.env, variables, "TMUX_PANE") : null;
  return panes.filter(({ id }) => id === paneId);
}

function parsePanes(lines: readonly string[]): Pane[] {
  return lines.flatMap((line) => {
    const match = /^(%\d+) (\d+) (\S*) (@\d+) (\$\d+) (\d)(\d) (.*)$/.exec(line);
    if (!match) return [];
    const [, id = "", pid, tty = "", window = "", session = "", pane, current, sessionName = ""] = match;
    const isActive = pane === "1" && current === "1";
    return [{ id, pid: Number(pid), tty, window, session, isActive, sessionName }];
  });
}

function parseClients(lines: readonly string[]): Client[] {
  return lines
    .flatMap((line) => {
      const match = /^(\d+) (\S+) (\$\d+) (\d+)$/.exec(line);
      if (!match || !isTtyPath(match[2] ?? "")) return [];
      const [, pid, tty = "", session = "", used] = match;
      return [{ pid: Number(pid), tty, session, usedAt: Number(used) }];
    })
    .sort((a, b) => b.usedAt - a.usedAt);
}

const isSshServer = matchProcess(ssh.processes);

interface LocatedClient {
  readonly client: Client;
  readonly location: PaneLocation;
}

/** Prefers a client on this machine to one over SSH, one that shows the session already, and the last used one. */
function* chooseClient(
  clients: readonly Client[],
  sessions: ReadonlySet<string>,
  pane: PaneLocation,
): Plan<LocatedClient | null> {
  const showing = clients.filter(({ session }) => sessions.has(session));
  const others = clients.filter(({ session }) => !sessions.has(session));
  let remote: LocatedClient | null = null;
  for (const client of [...showing, ...others].slice(0, maxClients)) {
    const location = yield* locateClient(client, pane);
    if (!location.lineage.some(isSshServer)) return { client, location };
    remote ??= { client, location };
  }
  return remote;
}
