/**
 * Which user listens at a port of this machine. After a crash another user's program can take beckon's port: it must not get
 * the token.
 */

/** Sockets of IPv4, as the kernel lists them; only on Linux. */
const socketTable = "/proc/net/tcp";
const socketTables = [socketTable, "/proc/net/tcp6"];

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
      if (typeof owner === "number") return owner === uid;
      if (owner === null || rows.length < count * rowBytes) break;
      at += count * rowBytes;
    }
    return !(await hasForeignListener(url));
  };
}

/**
 * Whether a user other than this one and root listens at this loopback address. Reads all sockets: a listener for every IPv6
 * address also gets connections to 127.0.0.1, and another user can open any number of listeners. False on other systems.
 */
export async function hasForeignListener(url: URL): Promise<boolean> {
  const uid = process.getuid?.();
  if (process.platform !== "linux" || uid === undefined) return false;
  const tables = await Promise.all(
    socketTables.map((path) =>
      Bun.file(path)
        .text()
        .catch(() => ""),
    ),
  );
  return findListenerOwners(tables.join("\n"), url).some((owner) => owner !== uid && owner !== 0);
}

/** The owners of all sockets that get connections to this address. */
function findListenerOwners(table: string, { hostname, port }: URL): number[] {
  const end = Number(port || 80)
    .toString(16)
    .toUpperCase()
    .padStart(4, "0");
  const locals = formatAddresses(hostname).map((address) => `${address}:${end}`);
  return table.split("\n").flatMap((row) => {
    const [, local = "", , state, , , , uid] = row.trim().split(/\s+/);
    return state === "0A" && locals.includes(local) ? [Number(uid)] : [];
  });
}

/** A loopback address as the kernel prints it on either kind of processor, and the addresses that include it. */
function formatAddresses(hostname: string): string[] {
  const anyIpv6 = "0".repeat(32);
  if (hostname === "[::1]") return [`${"0".repeat(24)}01000000`, `${"0".repeat(31)}1`, anyIpv6];
  const bytes = (hostname === "localhost" ? "127.0.0.1" : hostname)
    .split(".")
    .map((byte) => Number(byte).toString(16).toUpperCase().padStart(2, "0"));
  const bigEndian = bytes.join("");
  const littleEndian = bytes.reverse().join("");
  const mapped = [`0000000000000000FFFF0000${littleEndian}`, `00000000000000000000FFFF${bigEndian}`];
  return [littleEndian, bigEndian, "00000000", ...mapped, anyIpv6];
}
