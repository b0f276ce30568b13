/**
 * Which user listens at a port of this machine. After a crash another user's program can take beckon's port: it must not get
 * the token. Pure, because the hook reads the table in its own way.
 */

/** Sockets of IPv4, as the kernel lists them; only on Linux. */
export const socketTable = "/proc/net/tcp";

/** 127.0.0.1 as the kernel prints it on a little-endian and on a big-endian processor, and any address. */
const addresses = ["0100007F", "7F000001", "00000000"];

/** null if nothing listens there. `table` is the text of /proc/net/tcp. */
export function findListenerOwner(table: string, port: number): number | null {
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")} 00000000:0000 0A `;
  for (const address of addresses) {
    const at = table.indexOf(` ${address}${end}`);
    if (at < 0) continue;
    // After the state: queues, timer, retransmits, uid.
    const fields = table
      .slice(at + 1, at + 200)
      .split(" ")
      .filter(Boolean);
    const owner = Number(fields[6]);
    return Number.isInteger(owner) ? owner : null;
  }
  return null;
}

/** False if another user listens at the address; true if nothing does, and where that is not known. */
export function isOwnListener(table: string | null, url: URL, uid: number | undefined): boolean {
  if (table === null || uid === undefined) return true;
  const owner = findListenerOwner(table, Number(url.port || 80));
  return owner === null || owner === uid;
}
