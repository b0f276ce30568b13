/** tmux: selects the pane, and finds the client that shows it. Parents end at the server, and WINDOWID inside is stale. */
import { quoteForShell } from "../../shell/quote.ts";
import { environment, lineage, ownSockets, type Plan, type Process, run, socketsOf } from "./plan.ts";
import { isLogin } from "./remote.ts";
import {
  hidden,
  named,
  type PaneLocation,
  type Reached,
  type TerminalContext,
  type TerminalRow,
  unknown,
} from "./row.ts";
import { claimed, isTty } from "./shapes.ts";

interface Pane {
  readonly id: string;
  readonly pid: number;
  readonly tty: string;
  readonly window: string;
  readonly session: string;
  /** It is the active pane of its session's current window. */
  readonly shown: boolean;
  readonly sessionName: string;
}

interface Client {
  readonly pid: number;
  readonly tty: string;
  readonly session: string;
  readonly usedAt: number;
}

// Only the last field may hold a space. tmux turns tabs into `_` where it takes its client for one without UTF-8.
const paneFormat =
  "#{pane_id} #{pane_pid} #{pane_tty} #{window_id} #{session_id} #{pane_active}#{window_active} #{session_name}";
const clientFormat = "#{client_pid} #{client_tty} #{session_id} #{client_activity}";

const isServer = ({ name }: Process): boolean => name === "tmux: server";

const isTmux = named("tmux");

function tmux(socket: string, ...args: readonly string[]): readonly string[] {
  return ["tmux", "-u", "-S", socket, ...args];
}

export const row: TerminalRow = {
  name: "tmux",
  proven: "run here",
  is: (process) => isServer(process) || isTmux(process),
  says: (env) => claimed(env, "TMUX") !== null && claimed(env, "TMUX_PANE") !== null,
  *focus(spot, here) {
    const found = yield* find(spot, here);
    if (found === null) return lost;
    const { socket, panes, clients } = found;
    const [pane] = panes;
    if (!pane) return lost;
    const sessions = new Set(panes.map(({ session }) => session));
    const best = yield* nearest(clients, sessions, spot);
    if (best === null) return detached(pane, socket);
    const { client, outer } = best;
    const session = sessions.has(client.session) ? client.session : pane.session;
    const switching =
      session === client.session ? [] : ["switch-client", "-c", client.tty, "-t", session, ";"];
    const selecting = ["select-window", "-t", `${session}:${pane.window}`, ";", "select-pane", "-t", pane.id];
    const ran = yield* run(tmux(socket, ...switching, ...selecting));
    if (ran.code !== 0) return impossible(`tmux could not select the pane: ${firstLine(ran.stderr)}`);
    return { kind: "inside", spot: outer };
  },
  *look(spot, here) {
    const found = yield* find(spot, here);
    if (found === null) return unknown;
    const shown = new Set(found.panes.filter((pane) => pane.shown).map(({ session }) => session));
    const showing = found.clients.filter(({ session }) => shown.has(session));
    if (showing.length === 0) return hidden;
    const spots: PaneLocation[] = [];
    for (const client of showing.slice(0, maxClients)) spots.push(yield* spotOf(client, spot));
    return { kind: "inside", spots, sure: true };
  },
};

const maxClients = 8;
const impossible = (why: string): Reached => ({ kind: "impossible", why });
const lost = impossible("it runs in tmux, but no tmux server of yours answers for its pane");

function detached({ sessionName }: Pane, socket: string): Reached {
  const name = shellWord(sessionName);
  const isUsual = socket.endsWith(`/${ownFolder()}/default`);
  const attach = `tmux ${isUsual ? "" : `-S ${shellWord(socket)} `}attach -t ${name}`;
  return impossible(`the tmux session ${name} has no terminal attached: run \`${attach}\` in one`);
}

const ownFolder = (): string => `tmux-${process.getuid?.() ?? 0}`;

const shellWord = (text: string): string => (/^[\w./-]+$/.test(text) ? text : quoteForShell(text));

const firstLine = (text: string): string =>
  text.trim().split("\n", 1)[0]?.slice(0, 200) || "it gave no reason";

/** The pane as each session has it that links its window, and all clients, the last used first. */
function* find(
  spot: PaneLocation,
  here: TerminalContext,
): Plan<{ socket: string; panes: Pane[]; clients: Client[] } | null> {
  for (const socket of yield* candidates(spot, here)) {
    const ran = yield* run(
      tmux(socket, "list-panes", "-a", "-F", paneFormat, ";", "list-clients", "-F", clientFormat),
    );
    if (ran.code !== 0) continue;
    const lines = ran.stdout.split("\n");
    const panes = match(readPanes(lines), spot);
    if (panes.length > 0) return { socket, panes, clients: readClients(lines) };
  }
  return null;
}

/** What the server itself listens on, where the system tells; else what the variable says, and the usual place. */
function* candidates(spot: PaneLocation, here: TerminalContext): Plan<readonly string[]> {
  const server = spot.lineage.find(isServer);
  const listening = server === undefined ? [] : yield* ownSockets(yield* socketsOf(server.pid));
  if (listening.length > 0) return listening;
  const claim = claimed(spot.env, "TMUX");
  const named = claim === null ? [] : [claim.replace(/,\d+,\d+$/, "")];
  const folder = `${here.env.TMUX_TMPDIR || "/tmp"}/${ownFolder()}/`;
  return [...new Set(yield* ownSockets([...named, folder]))];
}

/** By what the system says (tty, parents) before what the variables say, which a nested shell may have inherited. */
function match(panes: readonly Pane[], spot: PaneLocation): Pane[] {
  const pids = new Set(spot.lineage.map(({ pid }) => pid));
  const byTty = panes.filter(({ tty }) => tty === spot.tty && isTty(tty));
  if (byTty.length > 0) return byTty;
  const byParent = panes.filter(({ pid }) => pids.has(pid));
  if (byParent.length > 0) return byParent;
  const claim = spot.lineage.length === 0 ? claimed(spot.env, "TMUX_PANE") : null;
  return panes.filter(({ id }) => id === claim);
}

function readPanes(lines: readonly string[]): Pane[] {
  return lines.flatMap((line) => {
    const read = /^(%\d+) (\d+) (\S*) (@\d+) (\$\d+) (\d)(\d) (.*)$/.exec(line);
    if (!read) return [];
    const [, id = "", pid, tty = "", window = "", session = "", active, current, sessionName = ""] = read;
    const shown = active === "1" && current === "1";
    return [{ id, pid: Number(pid), tty, window, session, shown, sessionName }];
  });
}

function readClients(lines: readonly string[]): Client[] {
  return lines
    .flatMap((line) => {
      const read = /^(\d+) (\S+) (\$\d+) (\d+)$/.exec(line);
      if (!read || !isTty(read[2] ?? "")) return [];
      const [, pid, tty = "", session = "", used] = read;
      return [{ pid: Number(pid), tty, session, usedAt: Number(used) }];
    })
    .sort((a, b) => b.usedAt - a.usedAt);
}

/** At this machine rather than over SSH; that shows the session already rather than another; used last. */
function* nearest(
  clients: readonly Client[],
  sessions: ReadonlySet<string>,
  spot: PaneLocation,
): Plan<{ client: Client; outer: PaneLocation } | null> {
  const showing = clients.filter(({ session }) => sessions.has(session));
  const others = clients.filter(({ session }) => !sessions.has(session));
  let remote: { client: Client; outer: PaneLocation } | null = null;
  for (const client of [...showing, ...others].slice(0, maxClients)) {
    const outer = yield* spotOf(client, spot);
    if (!outer.lineage.some(isLogin)) return { client, outer };
    remote ??= { client, outer };
  }
  return remote;
}

function* spotOf(client: Client, inner: PaneLocation): Plan<PaneLocation> {
  const parents = yield* lineage(client.pid);
  // Without itself: it is a tmux too.
  return {
    lineage: parents.slice(1),
    tty: client.tty,
    env: (yield* environment(client.pid)) ?? {},
    title: inner.title,
    cwd: inner.cwd,
  };
}
