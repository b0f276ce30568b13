/** Sessions over SSH: one on another machine, shown by an `ssh` here, and one here that a user logged in to. */
import { matchProcess } from "./lineage.ts";
import {
  ask,
  type ConnectionPorts,
  findConnectionOwners,
  findProcesses,
  immediate,
  type Plan,
  readCommandLine,
  readEnvironment,
  readLineage,
  readSockets,
  type TerminalEnv,
} from "./plan.ts";
import {
  impossible,
  type LocateResult,
  type Terminal,
  type TerminalTarget,
  visibilityUnknown,
} from "./terminal.ts";
import { commonVariables, readVariable } from "./variables.ts";

/** Addresses and ports of both ends: `client port server port`. */
export const connectionShape = /^[0-9A-Fa-f.:%\w]{2,60} \d{1,5} [0-9A-Fa-f.:%\w]{2,60} \d{1,5}$/;

const variables = { SSH_CONNECTION: connectionShape };

export const ssh: Terminal = {
  name: "ssh",
  kind: "login",
  processes: ["sshd", "sshd-session", "mosh-server"],
  variables,
  reach: "window",
  remark: "the window on this machine that runs `ssh`, if it can be found",
  isTested: true,
  focus({ env }) {
    const login = readConnection(env);
    const result = impossible(`its terminal is an SSH login${from(env)}: go to that machine`);
    return immediate(login === null ? result : { ...result, login });
  },
  checkVisibility: () => immediate(visibilityUnknown),
};

/** Addresses and ports of both ends, as the login sets them: `client port server port`. */
export const readConnection = (env: TerminalEnv): string | null =>
  readVariable(env, variables, "SSH_CONNECTION");

const isSshClient = matchProcess(["ssh"]);

/** An `ssh` of this machine, and why it may not be the one. */
interface FoundClient {
  readonly pid: number;
  readonly limit: string | null;
}

/** The terminal here that runs `ssh` to the session's machine, found by the two ports that both ends know. */
export function* findSshTerminal({ place, cwd, title, elsewhere }: TerminalTarget): Plan<LocateResult> {
  const own = readConnection(place.env);
  const logins = elsewhere?.logins ?? (own === null ? [] : [own]);
  if (logins.length === 0) return { kind: "unknown", reason: explainNoLogin(place.env) };
  const host = elsewhere?.host ?? null;
  const client = (yield* findClientByPort(logins, host)) ?? (yield* findClientByHost(logins, host));
  if (typeof client === "string") return { kind: "unknown", reason: client };
  const [running, ...parents] = yield* readLineage(client.pid);
  return {
    kind: "known",
    location: {
      lineage: parents,
      tty: running?.tty ?? null,
      env: (yield* readEnvironment(client.pid)) ?? {},
      title,
      cwd,
    },
    by: ["ssh"],
    limit: elsewhere?.isSelected
      ? client.limit
      : "it runs on another machine: this is the terminal with the SSH login to it",
  };
}

function explainNoLogin(env: TerminalEnv): string {
  const distribution = readVariable(env, commonVariables, "WSL_DISTRO_NAME");
  return distribution === null
    ? "it runs in a container or on another machine: its terminal cannot be seen from here"
    : `it runs in WSL (${distribution}), and Windows does not say which window shows it`;
}

/** A text says why none of those that it may be can be chosen; null if there is none. */
function* findClientByPort(
  logins: readonly string[],
  host: string | null,
): Plan<FoundClient | string | null> {
  for (const login of logins) {
    const [client = "", localPort, server = "", remotePort] = login.split(" ");
    const ports = { localPort: Number(localPort), remotePort: Number(remotePort) };
    const certain = yield* findConnectionOwners("ssh", {
      ...ports,
      addresses: { local: client, remote: server },
    });
    // Where both addresses are translated, the same ports may be those of a connection to another machine.
    const owners = certain.length > 0 ? certain : yield* findConnectionsTo(ports, host);
    const clients: number[] = [];
    for (const pid of owners) {
      const [running] = yield* readLineage(pid);
      if (running && isSshClient(running)) clients.push(pid);
    }
    if (clients.length > 0) return yield* chooseClient(clients, host);
  }
  return null;
}

function* findConnectionsTo(ports: ConnectionPorts, host: string | null): Plan<readonly number[]> {
  if (host === null) return [];
  const owners = yield* findConnectionOwners("ssh", ports);
  for (const pid of owners) if (isHost(parseSshCommand(yield* readCommandLine(pid)), host)) return owners;
  return [];
}

/**
 * With ControlMaster, one `ssh` has the connection, and others show their terminals through its socket. With ControlPersist, the first
 * of these keeps the connection open too, although another process has become its master (OpenSSH 9.2). Which of them shows which
 * terminal there, nothing says.
 */
function* chooseClient(owners: readonly number[], host: string | null): Plan<FoundClient | string> {
  const sharing = new Set(owners);
  for (const owner of owners) {
    if ((yield* readSockets(owner)).length === 0) continue;
    const { code, stdout } = yield* ask(["ss", "-Hxnp"]);
    if (code !== 0) return `${describeShared(host)}, and \`ss\`, which shows by which, is not installed`;
    for (const peer of parsePeers(stdout, owner)) sharing.add(peer);
  }
  const [first, ...rest] = sharing;
  if (first !== undefined && rest.length === 0) return { pid: first, limit: null };
  const candidates: number[] = [];
  for (const pid of sharing) {
    const [running] = yield* readLineage(pid);
    const command = parseSshCommand(yield* readCommandLine(pid));
    if (running && running.tty !== null && isSshClient(running) && command?.hasTerminal) candidates.push(pid);
  }
  const [only, ...others] = candidates;
  if (only === undefined) return "no terminal here shows its SSH login";
  if (others.length === 0) return { pid: only, limit: null };
  return `${describeShared(host)} (ControlMaster): ssh does not say which of the ${candidates.length} shows it`;
}

const describeShared = (host: string | null): string =>
  `several terminals may use one SSH connection${host === null ? "" : ` to ${host}`}`;

/** The processes at the other ends of a process's Unix sockets that have a path, by what `ss -Hxnp` prints. */
export function parsePeers(text: string, pid: number): number[] {
  const sockets = text.split("\n").flatMap((line) => {
    const [, path, inode, peer, users] =
      /^u_\S+\s+ESTAB\s+\d+\s+\d+\s+(\S+)\s+(\d+)\s+\S+\s+(\d+)\s+users:\((.*)\)/.exec(line) ?? [];
    if (users === undefined) return [];
    const pids = [...users.matchAll(/pid=(\d+)/g)].map(([, id]) => Number(id));
    return [{ path, inode, peer, pids }];
  });
  const own = sockets.filter(({ path, pids }) => path !== "*" && pids.includes(pid));
  const peers = new Set(own.map(({ peer }) => peer));
  const pids = sockets.filter(({ inode }) => peers.has(inode)).flatMap((socket) => socket.pids);
  return [...new Set(pids)].filter((id) => id !== pid);
}

/** Behind an address translator, or another `ssh` that carries the connection, the ports are not those of this machine. */
function* findClientByHost(logins: readonly string[], host: string | null): Plan<FoundClient | string> {
  const address = logins[0]?.split(" ")[0];
  const notFromHere = `it runs on another machine, and the SSH login from ${address} was not made from this one`;
  if (host === null) return notFromHere;
  const candidates: number[] = [];
  for (const { pid, tty } of yield* findProcesses("ssh")) {
    if (tty === null) continue;
    const command = parseSshCommand(yield* readCommandLine(pid));
    if (command?.hasTerminal && isHost(command, host)) candidates.push(pid);
  }
  const [only, ...others] = candidates;
  if (only === undefined) return notFromHere;
  const unknownPort = `the SSH login from ${address} is not one of this machine's ports`;
  if (others.length > 0)
    return `${unknownPort}, and ${candidates.length} terminals here have an \`ssh ${host}\`: any of them may show it`;
  return {
    pid: only,
    limit: `${unknownPort}: this is the only terminal here with an \`ssh ${host}\``,
  };
}

/** What an `ssh` was told to do. */
interface SshCommand {
  /** As the user named it: `devbox`, `me@10.0.0.7`. */
  readonly destination: string;
  /** It shows a terminal of that machine: not a tunnel, a copy, or one command. */
  readonly hasTerminal: boolean;
}

/** Those of OpenSSH 9.2 with a value, which may be in the same word or in the next. */
const valueOptions = "BbcDEeFIiJLlmOoPpQRSWw";
const withoutTerminal = "TNfGVW";

/** null if it does not name a machine. */
export function parseSshCommand(argv: readonly string[]): SshCommand | null {
  let destination: string | null = null;
  let user: string | null = null;
  let wantsTerminal = false;
  let refusesTerminal = false;
  let at = 1;
  for (; at < argv.length; at++) {
    const word = argv[at] ?? "";
    if (!word.startsWith("-") || word === "-") {
      if (destination !== null) break;
      destination = word;
      continue;
    }
    if (word === "--") continue;
    for (let n = 1; n < word.length; n++) {
      const letter = word[n] ?? "";
      if (letter === "t") wantsTerminal = true;
      if (withoutTerminal.includes(letter)) refusesTerminal = true;
      if (!valueOptions.includes(letter)) continue;
      const value = word.slice(n + 1) || (argv[++at] ?? "");
      if (letter === "l") user = value;
      break;
    }
  }
  if (destination === null || destination === "") return null;
  const hasCommand = at < argv.length;
  return {
    destination: user === null || destination.includes("@") ? destination : `${user}@${destination}`,
    hasTerminal: !refusesTerminal && (wantsTerminal || !hasCommand),
  };
}

/** Where only one of them names a user, the other takes the one of ssh's settings. */
function isHost(command: SshCommand | null, host: string): boolean {
  if (command === null) return false;
  const split = (name: string) => [
    name.slice(0, Math.max(0, name.lastIndexOf("@"))),
    name.slice(name.lastIndexOf("@") + 1),
  ];
  const [user, machine] = split(command.destination);
  const [wantedUser, wanted] = split(host);
  return machine === wanted && (user === wantedUser || user === "" || wantedUser === "");
}

function from(env: TerminalEnv): string {
  const address = readConnection(env)?.split(" ")[0];
  return address === undefined ? "" : ` from ${address}`;
}
