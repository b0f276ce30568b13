/**
 * System: what beckon reads from this machine and runs on it, without a desktop: processes, clocks, commands, the running app.
 * This file: whether a process lives, and when it started.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import type { Session } from "../core/session/session.ts";
import { readOr } from "../storage/files.ts";
import { type ProcessStat, parseStat } from "./process-stat.ts";

/** The start time in the system's own unit. null if there is no such process or it is a zombie; "" if it lives but its start time is unknown. */
export function readStartTime(pid: number): string | null {
  return process.platform === "linux" ? readStartOnLinux(pid) : checkWithSignal(pid);
}

function readStartOnLinux(pid: number): string | null {
  const stat = readStat(pid);
  return stat === null || hasEnded(stat) ? null : stat.start;
}

/** Null if there is no such process, and on systems other than Linux. */
export function readStat(pid: number): ProcessStat | null {
  return parseStat(readSystemFile(`/proc/${pid}/stat`, "utf8") ?? "");
}

/** A zombie keeps its pid until its parent asks how it ended. */
export const hasEnded = ({ state }: ProcessStat): boolean => state === "Z" || state === "X";

function checkWithSignal(pid: number): "" | null {
  try {
    process.kill(pid, 0);
    return "";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "" : null;
  }
}

/** Whether the process is alive and still the same one. If its start time is unknown, the pid alone decides. */
export function isAlive(pid: number, procStart: string | null): boolean {
  const start = readStartTime(pid);
  return start !== null && (start === "" || procStart === null || start === procStart);
}

/** Much cheaper than `isAlive`, but also true for a zombie, and for a later process with the same pid. */
export const hasProcess = (pid: number): boolean => checkWithSignal(pid) !== null;

/** The sessions whose process is gone, as after kill -9. Only sessions of this machine, whose pids we can see. */
export function findDeadSessions(
  sessions: readonly Session[],
  isRunning: (pid: number, procStart: string | null) => boolean = isAlive,
): Session[] {
  // Many sessions can share one process, which is checked once.
  const checked = new Map<number, { readonly procStart: string | null; readonly isAlive: boolean }>();
  return sessions.filter(({ ended, place }) => {
    if (ended || !place?.local || place.pid === null) return false;
    const { pid, procStart } = place;
    const known = checked.get(pid);
    if (known?.procStart === procStart) return !known.isAlive;
    const result = { procStart, isAlive: isRunning(pid, procStart) };
    checked.set(pid, result);
    return !result.isAlive;
  });
}

const maxAncestors = 64;

/** The pids of our parent, its parent and so on, the nearest first. Empty where the system does not show them. */
export function listAncestors(pid: number = process.pid): readonly number[] {
  const pids: number[] = [];
  for (let next = readParent(pid); next !== null && next > 1 && pids.length < maxAncestors; ) {
    pids.push(next);
    next = readParent(next);
  }
  return pids;
}

function readParent(pid: number): number | null {
  const parent = readStat(pid)?.parent ?? 0;
  return parent > 0 ? parent : null;
}

/** The processes that a process has started. Empty on systems other than Linux. */
export function listChildren(pid: number): readonly number[] {
  return (readSystemFile(`/proc/${pid}/task/${pid}/children`) ?? "")
    .split(" ")
    .map(Number)
    .filter((child) => child > 0);
}

/** Empty if the process is gone, and on systems other than Linux. */
export const readCommandLine = (pid: number): readonly string[] =>
  (readSystemFile(`/proc/${pid}/cmdline`, "utf8") ?? "").split("\0").slice(0, -1);

/** The pids of all processes. Throws on systems other than Linux. */
export const listPids = (): number[] =>
  readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number);

/** null if the process is gone or another user's, for a moment while it executes another program, and on systems other than Linux. */
export function readEnvironment(pid: number): Readonly<Record<string, string>> | null {
  return parseEnvironment(readOr(() => readFileSync(`/proc/${pid}/environ`, "utf8"), ""));
}

/** `NAME=value` after `NAME=value`, with a NUL between them. null if there is none. */
export function parseEnvironment(text: string): Readonly<Record<string, string>> | null {
  const pairs = text.split("\0").flatMap((line): [string, string][] => {
    const equals = line.indexOf("=");
    return equals > 0 ? [[line.slice(0, equals), line.slice(equals + 1)]] : [];
  });
  return text === "" ? null : Object.fromEntries(pairs);
}

/** Names the run of the system since it was started. null on systems other than Linux. */
export const readBootId = (): string | null =>
  readSystemFile("/proc/sys/kernel/random/boot_id")?.trim() || null;

/** Whether our parent process set the signal to be ignored (`bit` is 1 for signal 1). Always false outside Linux. */
export function isSignalIgnored(bit: bigint): boolean {
  const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readSystemFile("/proc/self/status") ?? "")?.[1];
  return mask !== undefined && (BigInt(`0x${mask}`) & bit) !== 0n;
}

/** readFileSync allocates 256 kB for a file without a size, and returns them to the system a little later. */
const systemFileBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/** The start of a file of /proc. null on other systems, and if the process is gone. */
export function readSystemFile(path: string, encoding: "latin1" | "utf8" = "latin1"): string | null {
  if (process.platform !== "linux") return null;
  try {
    const file = openSync(path, "r");
    try {
      return systemFileBuffer.toString(encoding, 0, readSync(file, systemFileBuffer));
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}
