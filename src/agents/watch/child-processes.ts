/** The processes that an agent has started. */
import { closeSync, openSync, readSync } from "node:fs";

/** The processes that a process has started. Empty on systems other than Linux. */
export function listChildren(pid: number): readonly number[] {
  return readProcFile(`/proc/${pid}/task/${pid}/children`)
    .split(" ")
    .map(Number)
    .filter((child) => child > 0);
}

/** Empty if the process is gone, and on systems other than Linux. */
export const readCommandLine = (pid: number): readonly string[] =>
  readProcFile(`/proc/${pid}/cmdline`).split("\0").slice(0, -1);

const procBuffer = Buffer.allocUnsafeSlow(64 * 1024);

function readProcFile(path: string): string {
  if (process.platform !== "linux") return "";
  try {
    const fd = openSync(path, "r");
    try {
      return procBuffer.toString("utf8", 0, readSync(fd, procBuffer));
    } finally {
      closeSync(fd);
    }
  } catch {
    return "";
  }
}
