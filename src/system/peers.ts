/** Which user owns the other end of a connection on this machine. */
import { readFile } from "node:fs/promises";

/** Sockets of the reader's network namespace: local address, remote address, …, uid. */
const socketTables = ["/proc/net/tcp", "/proc/net/tcp6"];

/**
 * Whether the client at this port of 127.0.0.1 belongs to this user, or to root. True where the system has no such table. A
 * socket that cannot be found is refused: while its owner waits for a response, it is in the table.
 */
export async function isOwnSocket(clientPort: number, serverPort: number): Promise<boolean> {
  const uid = process.getuid?.();
  if (process.platform !== "linux" || uid === undefined) return true;
  const tables = await Promise.all(socketTables.map((path) => readFile(path, "utf8").catch(() => null)));
  if (tables[0] === null) return true;
  const owner = findOwner(tables.join("\n"), clientPort, serverPort);
  return owner === uid || owner === 0;
}

/** 127.0.0.1 as the kernel prints it, on little-endian and big-endian processors; then as a client with an IPv6 socket has it. */
const loopback = [
  "0100007F",
  "7F000001",
  "0000000000000000FFFF00000100007F",
  "00000000000000000000FFFF7F000001",
];

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
