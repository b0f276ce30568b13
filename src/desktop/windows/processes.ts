/** The processes of this machine and their parents. */
import type { ProcessInfo } from "../../core/terminals/plan.ts";
import { readWide, win32 } from "./win32.ts";

const TH32CS_SNAPPROCESS = 0x2;
const PROCESS_QUERY_LIMITED_INFORMATION = 0x1000;
const invalidHandle = 0xffffffffffffffffn;
const entryBytes = 568;
const maxPathUnits = 1024;
const maxParents = 32;
const GA_ROOTOWNER = 3;

type Entry = Pick<ProcessInfo, "pid" | "parent" | "name">;

function listProcesses(): Entry[] {
  const system = win32();
  const snapshot = system.CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
  if (snapshot === invalidHandle) return [];
  // PROCESSENTRY32W.
  const entry = Buffer.alloc(entryBytes);
  entry.writeUInt32LE(entryBytes, 0);
  const processes: Entry[] = [];
  try {
    for (
      let more = system.Process32FirstW(snapshot, entry);
      more;
      more = system.Process32NextW(snapshot, entry)
    ) {
      processes.push({
        pid: entry.readUInt32LE(8),
        parent: entry.readUInt32LE(32),
        name: readWide(entry.subarray(44, 564)).replace(/\.exe$/i, ""),
      });
    }
  } finally {
    system.CloseHandle(snapshot);
  }
  return processes;
}

/** The process and its parents, nearest first. Stops at a parent whose pid now belongs to a younger process. */
export function readLineage(pid: number): ProcessInfo[] {
  const byPid = new Map(listProcesses().map((entry) => [entry.pid, entry]));
  const lineage: ProcessInfo[] = [];
  let childStart: bigint | null = null;
  for (let next = byPid.get(pid); next && lineage.length < maxParents; next = byPid.get(next.parent)) {
    const { program, start } = readDetails(next.pid);
    if (lineage.some((process) => process.pid === next?.pid)) break;
    if (childStart !== null && start !== null && start > childStart) break;
    childStart = start ?? childStart;
    // What agents write down as their start time is in another unit.
    const about = { ...next, program, tty: null, start: null };
    lineage.push(start === null ? about : { ...about, startedAt: readFileTime(start) });
  }
  return lineage;
}

/**
 * The process whose window shows the console of this one: Windows Terminal, also where it is not among its parents. null if this
 * program has a console of its own, which it would have to leave to look.
 */
export function findConsoleOwner(pid: number): ProcessInfo | null {
  const system = win32();
  if (system.GetConsoleWindow() !== 0n) return null;
  // For a moment, Ctrl-C in that console is meant for this program too.
  system.SetConsoleCtrlHandler(null, 1);
  try {
    if (!system.AttachConsole(pid)) return null;
    const owner = Buffer.alloc(4);
    const window = system.GetAncestor(system.GetConsoleWindow(), GA_ROOTOWNER);
    if (window !== 0n) system.GetWindowThreadProcessId(window, owner);
    system.FreeConsole();
    return readLineage(owner.readUInt32LE(0))[0] ?? null;
  } finally {
    system.SetConsoleCtrlHandler(null, 0);
  }
}

/** A FILETIME counts 100 ns from the year 1601. */
const readFileTime = (time: bigint): number => Number(time / 10_000n) - 11_644_473_600_000;

/** Windows gives no details of the processes of other users and of the system. */
function readDetails(pid: number): { program: string; start: bigint | null } {
  const system = win32();
  const handle = system.OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid);
  if (handle === 0n) return { program: "", start: null };
  try {
    const times = Buffer.alloc(32);
    const path = Buffer.alloc(maxPathUnits * 2);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(maxPathUnits, 0);
    const hasTimes = system.GetProcessTimes(
      handle,
      times,
      times.subarray(8),
      times.subarray(16),
      times.subarray(24),
    );
    return {
      program: system.QueryFullProcessImageNameW(handle, 0, path, length) ? readWide(path) : "",
      start: hasTimes ? times.readBigUInt64LE(0) : null,
    };
  } finally {
    system.CloseHandle(handle);
  }
}
