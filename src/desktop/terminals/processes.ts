/** The processes of this machine, as far as this user may see them, with their terminals, sockets and connections. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Exec } from "../../core/interfaces/index.ts";
import type { ProcessInfo, TerminalEnv } from "../../core/terminals/plan.ts";
import { hasEnded, readStat } from "../../system/processes.ts";

export interface Processes {
  /** The process and its parents, nearest first; empty if it has ended or cannot be seen. */
  lineage(pid: number): Promise<readonly ProcessInfo[]>;
  environment(pid: number): Promise<TerminalEnv | null>;
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

const tryRead = <T>(read: () => T): T | null => {
  try {
    return read();
  } catch {
    return null;
  }
};

function readProcess(pid: number): ProcessInfo | null {
  const stat = readStat(pid);
  if (stat === null || hasEnded(stat)) return null;
  const { name, parent, tty, start } = stat;
  const program = tryRead(() => readlinkSync(`/proc/${pid}/exe`)) ?? "";
  return { pid, parent, name, program, tty, start };
}

function parseEnvironment(text: string): TerminalEnv {
  const pairs = text.split("\0").flatMap((line): [string, string][] => {
    const equals = line.indexOf("=");
    return equals > 0 ? [[line.slice(0, equals), line.slice(equals + 1)]] : [];
  });
  return Object.fromEntries(pairs);
}

export const linuxProcesses: Processes = {
  lineage: async (pid) => collectLineage(pid, readProcess),
  async environment(pid) {
    const text = tryRead(() => readFileSync(`/proc/${pid}/environ`, "utf8"));
    // Empty for a moment while the process executes another program.
    return text ? parseEnvironment(text) : null;
  },
  named: async (name) =>
    listPids()
      .flatMap((pid) => readProcess(pid) ?? [])
      .filter((process) => process.name === name),
  ttys: async (pid) => [...readOpenFiles(pid)].filter((link) => link.startsWith("/dev/pts/")),
  async sockets(pid) {
    const files = readOpenFiles(pid);
    // Number, references, protocol, flags, type, state, inode, path.
    const lines = tryRead(() => readFileSync("/proc/net/unix", "utf8"))?.split("\n") ?? [];
    const paths = lines.flatMap((line) => {
      const [, inode, path] = /^\S+(?: +\S+){5} +(\d+) ([/@].*)$/.exec(line) ?? [];
      return path !== undefined && files.has(`socket:[${inode}]`) ? [path] : [];
    });
    return [...new Set(paths)];
  },
};

const listPids = (): number[] =>
  readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number);

function readOpenFiles(pid: number): ReadonlySet<string> {
  const descriptors = tryRead(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return new Set(descriptors.flatMap((fd) => tryRead(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? []));
}

/** By `ps`, which prints the program's path as the name. The path may contain spaces, so it comes last. */
export function createMacProcesses(exec: Exec): Processes {
  const readAll = async (): Promise<ReadonlyMap<number, ProcessInfo>> => {
    const { stdout } = await exec(["/bin/ps", "-axo", "pid=,ppid=,tty=,comm="]);
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
    named: async (name) => [...(await readAll()).values()].filter((process) => process.name === name),
    ttys: async () => [],
    sockets: async () => [],
  };
}

export function parsePs(text: string): ProcessInfo[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+)$/.exec(line);
    if (!match) return [];
    const [, pid, parent, tty = "", program = ""] = match;
    const name = program.slice(program.lastIndexOf("/") + 1).replace(/^-/, "");
    const device = tty.startsWith("tty") ? `/dev/${tty}` : null;
    return [{ pid: Number(pid), parent: Number(parent), name, program, tty: device, start: null }];
  });
}

/** Where processes cannot be seen. */
export const noProcesses: Processes = {
  lineage: async () => [],
  environment: async () => null,
  named: async () => [],
  ttys: async () => [],
  sockets: async () => [],
};

const established = "01";

/** The process of a TCP connection, on Linux; null if it is another user's, or several connections have these ports. */
export function findConnectionOwner(localPort: number, remotePort: number): number | null {
  const inodes = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((path) => {
    const table = tryRead(() => readFileSync(path, "utf8"));
    return table === null ? [] : parseSocketTable(table, localPort, remotePort);
  });
  return inodes.length === 1 ? findProcessWithFile(`socket:[${inodes[0]}]`) : null;
}

/** The inodes of the open connections with these ports. The columns are number, local and remote address, state, …, inode (the tenth). */
export function parseSocketTable(table: string, localPort: number, remotePort: number): string[] {
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, "0");
  return table.split("\n").flatMap((line) => {
    const [, local = "", remote = "", state, ...rest] = line.trim().split(/\s+/);
    const hasPorts = local.endsWith(`:${hex(localPort)}`) && remote.endsWith(`:${hex(remotePort)}`);
    return hasPorts && state === established ? [rest[5] ?? ""] : [];
  });
}

function findProcessWithFile(link: string): number | null {
  const pid = listPids().find((id) => readOpenFiles(id).has(link));
  return pid ?? null;
}
