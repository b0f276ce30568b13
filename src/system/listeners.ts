/**
 * Which user listens at a port of this machine. After a crash another user's program can take beckon's port: it must not get
 * the token.
 */

/** Sockets of IPv4, as the kernel lists them; only on Linux. */
const socketTable = "/proc/net/tcp";

/** 127.0.0.1 as the kernel prints it on a little-endian and on a big-endian processor, and any address. */
const addresses = ["0100007F", "7F000001", "00000000"];

/** Bytes of a row, and of the header before the first one. */
const rowBytes = 150;
/**
 * Rows to read at a time. Listening sockets come first. To get past them, the kernel searches a table of every connection,
 * which takes up to 10 ms, so no more rows are read than needed.
 */
const batches = [4, 4, 8, 16, 32, 64, 128] as const;

/** The owner; null if nothing listens there, undefined if it is not among these rows. Every field has its column. */
export function findListenerOwner(rows: string, port: number): number | null | undefined {
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (let at = 0; at + rowBytes <= rows.length; at += rowBytes) {
    if (rows.slice(at + 34, at + 36) !== "0A") return null;
    if (rows.slice(at + 14, at + 19) !== end) continue;
    if (addresses.includes(rows.slice(at + 6, at + 14)))
      return Number.parseInt(rows.slice(at + 75, at + 88), 10);
  }
  return undefined;
}

/**
 * Starts to read the table. The result is false if another user listens at the address; true if nothing does, and where that
 * is not known, as on other systems.
 */
export function startListenerCheck(table: string = socketTable): (url: URL) => Promise<boolean> {
  const uid = process.getuid?.();
  if (process.platform !== "linux" || uid === undefined) return async () => true;
  const readRows = (from: number, count: number) =>
    Bun.file(table)
      .slice(from, from + count * rowBytes)
      .text()
      .catch(() => "");
  const readingFirst = readRows(rowBytes, batches[0]);
  return async (url) => {
    const port = Number(url.port || 80);
    let at = rowBytes;
    for (const count of batches) {
      const rows = await (at === rowBytes ? readingFirst : readRows(at, count));
      const owner = findListenerOwner(rows, port);
      if (owner !== undefined) return owner === null || owner === uid;
      if (rows.length < count * rowBytes) return true;
      at += count * rowBytes;
    }
    return true;
  };
}
