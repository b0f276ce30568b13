/** This machine, its clocks and its processes. */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { ClockReading } from "../core/session/event.ts";

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** Processes with an equal host see each other's pids: same boot, same pid namespace. */
function hostId(boot: string | null): string | null {
  if (process.platform !== "linux") return hostname() || null;
  try {
    return `${boot}/${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return null;
  }
}

/** Was the signal (as a bit: 1 for the first) set to be ignored by whoever started us? Only Linux tells. */
export function isIgnored(bit: bigint): boolean {
  const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(read("/proc/self/status") ?? "")?.[1];
  return mask !== undefined && (BigInt(`0x${mask}`) & bit) !== 0n;
}

/** How often the clock is compared with the system's: sleep stops the one but not the other. */
const compareMs = 1_000;
/** /proc/uptime counts in steps of 10 ms. */
const asleepMs = 50;

/** Milliseconds since boot, sleep included; elsewhere since an arbitrary start, which orders events just as well. */
function uptimeMs(): number | null {
  const seconds = Number.parseFloat(process.platform === "linux" ? (read("/proc/uptime") ?? "") : "");
  return Number.isFinite(seconds) ? seconds * 1_000 : null;
}

export function createClock(): () => ClockReading {
  const boot = read("/proc/sys/kernel/random/boot_id")?.trim() ?? null;
  const host = hostId(boot);
  // Bun's process.hrtime and performance.now count from the start of their own process.
  let base = (uptimeMs() ?? 0) - performance.now();
  let compared = performance.now();
  return () => {
    const elapsed = performance.now();
    if (elapsed - compared > compareMs) {
      compared = elapsed;
      const slept = (uptimeMs() ?? 0) - elapsed - base;
      if (slept > asleepMs) base += slept;
    }
    return { at: Date.now(), t: base + elapsed, boot, host };
  };
}

/** When the process started, in the system's own unit; null: there is no such process, or it is a zombie. */
export function startOf(pid: number): string | null {
  return process.platform === "linux" ? startOnLinux(pid) : startElsewhere(pid);
}

function startOnLinux(pid: number): string | null {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The name, in parentheses, may hold anything; state is the first field after it, the start time the 20th.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
}

function startElsewhere(pid: number): string | null {
  try {
    process.kill(pid, 0);
    return "";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "" : null;
  }
}

/** Is the process still the one that we knew? An unknown start time is believed. */
export function isAlive(pid: number, procStart: string | null): boolean {
  const start = startOf(pid);
  return start !== null && (start === "" || procStart === null || start === procStart);
}
