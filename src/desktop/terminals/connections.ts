/** Whose connection is it? Only Linux tells without a program. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const established = "01";

/** The process of ours that holds it; null: nobody's, or more than one connection has these ports. */
export function connectionOwner(localPort: number, remotePort: number): number | null {
  const inodes = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((path) => {
    try {
      return findSockets(readFileSync(path, "utf8"), localPort, remotePort);
    } catch {
      return [];
    }
  });
  return inodes.length === 1 ? holderOf(`socket:[${inodes[0]}]`) : null;
}

/** Columns: number, local address:port, remote address:port, state, …, the tenth is the inode. */
export function findSockets(table: string, localPort: number, remotePort: number): string[] {
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, "0");
  return table.split("\n").flatMap((line) => {
    const [, local = "", remote = "", state, ...rest] = line.trim().split(/\s+/);
    const isIt = local.endsWith(`:${hex(localPort)}`) && remote.endsWith(`:${hex(remotePort)}`);
    return isIt && state === established ? [rest[5] ?? ""] : [];
  });
}

function holderOf(link: string): number | null {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        if (readlinkSync(`/proc/${pid}/fd/${fd}`) === link) return Number(pid);
      }
    } catch {
      // Another user's, or gone meanwhile.
    }
  }
  return null;
}
