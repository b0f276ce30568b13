/** Which user owns the other end of a connection on this machine. */
import { readFile } from "node:fs/promises";

/** Sockets of IPv4 in the reader's network namespace: local address, remote address, …, uid. */
const socketTable = "/proc/net/tcp";

/**
 * Whether the client at this port of 127.0.0.1 belongs to this user, or to root. True where the system has no such table. A
 * socket that cannot be found is refused: while its owner waits for a response, it is in the table.
 */
export async function isOwnSocket(clientPort: number, serverPort: number): Promise<boolean> {
  const uid = process.getuid?.();
  if (process.platform !== "linux" || uid === undefined) return true;
  const owner = findOwner(await readFile(socketTable, "utf8"), clientPort, serverPort);
  return owner === uid || owner === 0;
}

/** "0100007F" is 127.0.0.1 as the kernel prints it on a little-endian processor, "7F000001" on a big-endian one. */
const loopback = ["0100007F", "7F000001"];

/** null if there is no such socket. */
export function findOwner(table: string, clientPort: number, serverPort: number): number | null {
  const ends = (port: number) =>
    loopback.map((address) => `${address}:${port.toString(16).toUpperCase().padStart(4, "0")}`);
  const [client, server] = [ends(clientPort), ends(serverPort)];
  for (const row of table.split("\n")) {
    const [, local = "", remote = "", , , , , uid = ""] = row.trim().split(/\s+/);
    if (client.includes(local) && server.includes(remote)) return Number(uid);
  }
  return null;
}
