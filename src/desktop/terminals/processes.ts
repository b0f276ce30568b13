/** The processes of this machine, as far as this user may see them, with their terminals, sockets and connections. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isIPv6 } from "node:net";
import type { Exec } from "../../core/interfaces/index.ts";
import type { ConnectionPorts, ProcessInfo, TerminalEnv } from "../../core/terminals/plan.ts";
import { readOr } from "../../storage/files.ts";
import {
  hasEnded,
  listPids,
  parseEnvironment,
  readCommandLine,
  readEnvironment,
  readStat,
} from "../../system/processes.ts";

export interface Processes {
  /** The process and its parents, nearest first; empty if it has ended or cannot be seen. */
  lineage(pid: number): Promise<readonly ProcessInfo[]>;
  environment(pid: number): Promise<TerminalEnv | null>;
  /** Empty if it cannot be seen. */
  commandLine(pid: number): Promise<readonly string[]>;
  named(name: string): Promise<readonly ProcessInfo[]>;
  ttys(pid: number): Promise<readonly string[]>;
  /** Paths of its Unix sockets (`@…` without a file); empty if the system does not show them. */
  sockets(pid: number): Promise<readonly string[]>;
}

const maxParents = 40;

function collectLineage(pid: number, find: (pid: number) => ProcessInfo | null): readonly ProcessInfo[] {
  const lineage: ProcessInfo[] = [];
  for (let next = find(pid); next !== null && lineage.length < maxParents; next = find(next.parent)) {
    lineage.push(next);
    if (next.parent <= 1) break;
  }
  return lineage;
}

function readProcess(pid: number): ProcessInfo | null {
  const stat = readStat(pid);
  if (stat === null || hasEnded(stat)) return null;
  const { name, parent, tty, start } = stat;
  const program = readOr(() => readlinkSync(`/proc/${pid}/exe`), "");
  return { pid, parent, name, program, tty, start };
}

export const linuxProcesses: Processes = {
  lineage: async (pid) => collectLineage(pid, readProcess),
  environment: async (pid) => readEnvironment(pid),
  commandLine: async (pid) => readCommandLine(pid),
  named: async (name) => listNamed(name).flatMap((pid) => readProcess(pid) ?? []),
  ttys: async (pid) => [...readOpenFiles(pid)].filter((link) => link.startsWith("/dev/pts/")),
  async sockets(pid) {
    const files = readOpenFiles(pid);
    // Number, references, protocol, flags, type, state, inode, path.
    const lines = readOr(() => readFileSync("/proc/net/unix", "utf8"), "").split("\n");
    const paths = lines.flatMap((line) => {
      const [, inode, path] = /^\S+(?: +\S+){5} +(\d+) ([/@].*)$/.exec(line) ?? [];
      return path !== undefined && files.has(`socket:[${inode}]`) ? [path] : [];
    });
    return [...new Set(paths)];
  },
};

/** Reads nothing but their names of all processes: few have the right one. */
const listNamed = (name: string): number[] =>
  listPids().filter((pid) => readOr(() => readFileSync(`/proc/${pid}/comm`, "utf8"), "").trimEnd() === name);

function readOpenFiles(pid: number): ReadonlySet<string> {
  const descriptors = readOr(() => readdirSync(`/proc/${pid}/fd`), []);
  return new Set(descriptors.map((fd) => readOr(() => readlinkSync(`/proc/${pid}/fd/${fd}`), "")));
}

/** By `ps`, which prints the program's path as the name. The path may contain spaces, so it comes last. */
export function createMacProcesses(exec: Exec): Processes {
  const readAll = async (): Promise<ReadonlyMap<number, ProcessInfo>> => {
    // A start time must read the same after a journey to another time zone.
    const env = { LC_ALL: "C", TZ: "UTC" };
    const { stdout } = await exec(["/bin/ps", "-axo", "pid=,ppid=,tty=,lstart=,comm="], { env });
    return new Map(parsePs(stdout).map((process) => [process.pid, process]));
  };
  return {
    async lineage(pid) {
      const processes = await readAll();
      return collectLineage(pid, (id) => processes.get(id) ?? null);
    },
    async environment(pid) {
      // Prints the variables after the command. A value is cut at its first space; readVariable checks the shape anyway.
      const { code, stdout } = await exec(["/bin/ps", "eww", "-o", "command=", "-p", String(pid)]);
      return code === 0 ? parseEnvironment(stdout.trim().replaceAll(" ", "\0")) : null;
    },
    // Words with spaces are cut: those of ssh's that matter have none.
    async commandLine(pid) {
      const { code, stdout } = await exec(["/bin/ps", "ww", "-o", "args=", "-p", String(pid)]);
      return code === 0 ? stdout.trim().split(" ") : [];
    },
    named: async (name) => [...(await readAll()).values()].filter((process) => process.name === name),
    ttys: async () => [],
    sockets: async () => [],
  };
}

export function parsePs(text: string): ProcessInfo[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+\w{3} (\w{3} +\d+ [\d:]{8} \d{4})\s+(.+)$/.exec(line);
    if (!match) return [];
    const [, pid, parent, tty = "", started, program = ""] = match;
    const startedAt = Date.parse(`${started} UTC`);
    const name = program.slice(program.lastIndexOf("/") + 1).replace(/^-/, "");
    const device = tty.startsWith("tty") ? `/dev/${tty}` : null;
    return [{ pid: Number(pid), parent: Number(parent), name, program, tty: device, start: null, startedAt }];
  });
}

/** Where processes cannot be seen. */
export const noProcesses: Processes = {
  lineage: async () => [],
  environment: async () => null,
  commandLine: async () => [],
  named: async () => [],
  ttys: async () => [],
  sockets: async () => [],
};

const established = "01";

/** The processes of a TCP connection, on Linux. Empty if they are another user's, or several connections have these ports. */
export function findConnectionOwners(name: string, connection: ConnectionPorts): readonly number[] {
  const inodes = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((path) => {
    const table = readOr(() => readFileSync(path, "utf8"), "");
    return parseSocketTable(table, connection);
  });
  if (inodes.length !== 1) return [];
  return listNamed(name).filter((pid) => readOpenFiles(pid).has(`socket:[${inodes[0]}]`));
}

/** The inodes of the open connections with these ports. The columns are number, local and remote address, state, …, inode (the tenth). */
export function parseSocketTable(
  table: string,
  { localPort, remotePort, addresses }: ConnectionPorts,
): string[] {
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, "0");
  const isAt = (end: string, address: string) =>
    parseSocketAddress(end.split(":")[0] ?? "") === normalise(address);
  return table.split("\n").flatMap((line) => {
    const [, local = "", remote = "", state, ...rest] = line.trim().split(/\s+/);
    const hasPorts = local.endsWith(`:${hex(localPort)}`) && remote.endsWith(`:${hex(remotePort)}`);
    if (!hasPorts || state !== established) return [];
    const isRight = !addresses || isAt(local, addresses.local) || isAt(remote, addresses.remote);
    return isRight ? [rest[5] ?? ""] : [];
  });
}

/** The kernel prints an address as words in the machine's own byte order: 0100007F is 127.0.0.1. */
function parseSocketAddress(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).toReversed());
  if (bytes.length === 4) return bytes.map((byte) => Number.parseInt(byte, 16)).join(".");
  const groups = Array.from({ length: 8 }, (_, n) => `${bytes[2 * n]}${bytes[2 * n + 1]}`);
  // An IPv4 address on an IPv6 socket.
  if (/^(0000,){5}FFFF,/i.test(groups.join(","))) return parseSocketAddress(hex.slice(24));
  return normalise(groups.join(":"));
}

/** One spelling for each address; a name of an interface is left out. */
const normalise = (address: string): string => {
  const plain = address.replace(/%.*$/, "");
  return isIPv6(plain) ? new URL(`http://[${plain}]`).hostname : plain;
};
