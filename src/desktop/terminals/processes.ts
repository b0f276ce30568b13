/** The processes of this machine, as far as they are ours to see. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Exec } from "../../core/ports.ts";
import type { Env, Process } from "./plan.ts";

export interface Processes {
  /** The process and its parents, nearest first; empty: it is gone, or cannot be seen. */
  lineage(pid: number): Promise<readonly Process[]>;
  environment(pid: number): Promise<Env | null>;
  named(name: string): Promise<readonly Process[]>;
  ttys(pid: number): Promise<readonly string[]>;
  /** Paths of the sockets it has (`@…`: without a file); empty where the system does not tell. */
  sockets(pid: number): Promise<readonly string[]>;
}

const maxParents = 40;

function climb(pid: number, find: (pid: number) => Process | null): readonly Process[] {
  const line: Process[] = [];
  for (let next = find(pid); next !== null && line.length < maxParents; next = find(next.parent)) {
    line.push(next);
    if (next.parent <= 1) break;
  }
  return line;
}

const attempt = <T>(read: () => T): T | null => {
  try {
    return read();
  } catch {
    return null;
  }
};

function readProcess(pid: number): Process | null {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (stat === null) return null;
  // The name may hold spaces and parentheses: fields are counted from the last one.
  const end = stat.lastIndexOf(")");
  const [state, parent, , , tty, ...rest] = stat.slice(end + 2).split(" ");
  if (state === "Z" || state === "X") return null;
  return {
    pid,
    parent: Number(parent),
    name: stat.slice(stat.indexOf("(") + 1, end),
    program: attempt(() => readlinkSync(`/proc/${pid}/exe`)) ?? "",
    tty: ttyName(Number(tty)),
    start: rest[14] ?? null,
  };
}

/** The device's minor number is in bits 31–20 and 7–0, its major in bits 15–8. */
function ttyName(device: number): string | null {
  const major = (device >> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  if (major >= 136 && major <= 143) return `/dev/pts/${(major - 136) * 256 + minor}`;
  return major === 4 && minor < 64 ? `/dev/tty${minor}` : null;
}

function readEnvironment(text: string): Env {
  const pairs = text.split("\0").flatMap((line): [string, string][] => {
    const at = line.indexOf("=");
    return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
  });
  return Object.fromEntries(pairs);
}

export const onLinux: Processes = {
  lineage: async (pid) => climb(pid, readProcess),
  async environment(pid) {
    const text = attempt(() => readFileSync(`/proc/${pid}/environ`, "utf8"));
    // Empty for a moment while it becomes another program.
    return text ? readEnvironment(text) : null;
  },
  named: async (name) =>
    readdirSync("/proc")
      .filter((entry) => /^\d+$/.test(entry))
      .flatMap((entry) => readProcess(Number(entry)) ?? [])
      .filter((process) => process.name === name),
  ttys: async (pid) => [...openFiles(pid)].filter((link) => link.startsWith("/dev/pts/")),
  async sockets(pid) {
    const open = openFiles(pid);
    // Number, references, protocol, flags, type, state, inode, path.
    const lines = attempt(() => readFileSync("/proc/net/unix", "utf8"))?.split("\n") ?? [];
    const paths = lines.flatMap((line) => {
      const [, inode, path] = /^\S+(?: +\S+){5} +(\d+) ([/@].*)$/.exec(line) ?? [];
      return path !== undefined && open.has(`socket:[${inode}]`) ? [path] : [];
    });
    return [...new Set(paths)];
  },
};

function openFiles(pid: number): ReadonlySet<string> {
  const open = attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return new Set(open.flatMap((fd) => attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? []));
}

/** By `ps`: a name there is the program's path, which may hold spaces, so it comes last. */
export function onMac(exec: Exec): Processes {
  const all = async (): Promise<ReadonlyMap<number, Process>> => {
    const ran = await exec(["/bin/ps", "-axo", "pid=,ppid=,tty=,comm="]);
    return new Map(readPs(ran.stdout).map((process) => [process.pid, process]));
  };
  return {
    async lineage(pid) {
      const known = await all();
      return climb(pid, (one) => known.get(one) ?? null);
    },
    async environment(pid) {
      // Prints the variables behind the command. A value with a space in it is cut there: shapes are checked anyway.
      const ran = await exec(["/bin/ps", "eww", "-o", "command=", "-p", String(pid)]);
      return ran.code === 0 ? readEnvironment(ran.stdout.trim().replaceAll(" ", "\0")) : null;
    },
    named: async (name) => [...(await all()).values()].filter((process) => process.name === name),
    ttys: async () => [],
    sockets: async () => [],
  };
}

export function readPs(text: string): Process[] {
  return text.split("\n").flatMap((line) => {
    const read = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+)$/.exec(line);
    if (!read) return [];
    const [, pid, parent, tty = "", program = ""] = read;
    const name = program.slice(program.lastIndexOf("/") + 1).replace(/^-/, "");
    const device = tty.startsWith("tty") ? `/dev/${tty}` : null;
    return [{ pid: Number(pid), parent: Number(parent), name, program, tty: device, start: null }];
  });
}

export const nowhere: Processes = {
  lineage: async () => [],
  environment: async () => null,
  named: async () => [],
  ttys: async () => [],
  sockets: async () => [],
};
