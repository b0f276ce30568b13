/** The processes of this machine, and who started whom. */
import type { ProcessInfo } from "../terminals/plan.ts";
import { textIn } from "./layout.ts";
import { win32 } from "./win32.ts";

const TH32CS_SNAPPROCESS = 0x2;
const PROCESS_QUERY_LIMITED_INFORMATION = 0x1000;
const invalidHandle = 0xffffffffffffffffn;
const entryBytes = 568;
const maxPathUnits = 1024;
const maxParents = 32;

type Entry = Pick<ProcessInfo, "pid" | "parent" | "name">;

function listProcesses(): Entry[] {
  const system = win32();
  const snapshot = system.CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
  if (snapshot === invalidHandle) return [];
  // PROCESSENTRY32W.
  const entry = Buffer.alloc(entryBytes);
  entry.writeUInt32LE(entryBytes, 0);
  const found: Entry[] = [];
  try {
    for (
      let more = system.Process32FirstW(snapshot, entry);
      more;
      more = system.Process32NextW(snapshot, entry)
    ) {
      found.push({
        pid: entry.readUInt32LE(8),
        parent: entry.readUInt32LE(32),
        name: textIn(entry.subarray(44, 564)).replace(/\.exe$/i, ""),
      });
    }
  } finally {
    system.CloseHandle(snapshot);
  }
  return found;
}

/** The process and its parents, nearest first. A parent's number that went to a later process is not followed. */
export function lineageOf(pid: number): ProcessInfo[] {
  const byPid = new Map(listProcesses().map((entry) => [entry.pid, entry]));
  const lineage: ProcessInfo[] = [];
  let born: bigint | null = null;
  for (let next = byPid.get(pid); next && lineage.length < maxParents; next = byPid.get(next.parent)) {
    const { program, start } = detailsOf(next.pid);
    if (lineage.some((process) => process.pid === next?.pid)) break;
    if (born !== null && start !== null && start > born) break;
    born = start ?? born;
    lineage.push({ ...next, program, tty: null, start: start === null ? null : String(start) });
  }
  return lineage;
}

/** Of another person's process, and of the system's own, Windows tells nothing. */
function detailsOf(pid: number): { program: string; start: bigint | null } {
  const system = win32();
  const handle = system.OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid);
  if (handle === 0n) return { program: "", start: null };
  try {
    const times = Buffer.alloc(32);
    const path = Buffer.alloc(maxPathUnits * 2);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(maxPathUnits, 0);
    const knowsStart = system.GetProcessTimes(
      handle,
      times,
      times.subarray(8),
      times.subarray(16),
      times.subarray(24),
    );
    return {
      program: system.QueryFullProcessImageNameW(handle, 0, path, length) ? textIn(path) : "",
      start: knowsStart ? times.readBigUInt64LE(0) : null,
    };
  } finally {
    system.CloseHandle(handle);
  }
}
