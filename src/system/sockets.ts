/**
 * Which user has a socket of this machine: who listens at a port (after a crash another user's program can take beckon's port,
 * and must not get the token), and who is at the other end of a connection. The forwarder loads this file, so it reads with
 * Bun.file: node:fs takes longer to load.
 */

/** Sockets of IPv4, as the kernel lists them; only on Linux. */
const socketTable = "/proc/net/tcp";
export const socketTables = [socketTable, "/proc/net/tcp6"];

/** States of a socket. */
const established = "01";
const listening = "0A";
const anyIpv4 = "00000000";
/** 127.0.0.1 as `formatIpv4` gives it: a hook asks at every event, and the first call of map() takes 0.2 ms. */
const loopback = ["0100007F", "7F000001"];
const anyIpv6 = "0".repeat(32);

/** Bytes of a row, and of the header before the first one. */
const rowBytes = 150;
/**
 * Rows to read at a time. Listening sockets come first. To get past them, the kernel searches a table of every connection,
 * which takes up to 10 ms, so no more rows are read than needed.
 */
const batches = [4, 4, 8, 16, 32, 64, 128] as const;

/** The owner; null if nothing listens there, undefined if it is not among these rows. Every field has its column. */
export function findListenerOwner(rows: string, port: number): number | null | undefined {
  const end = `:${formatPort(port)}`;
  for (let at = 0; at + rowBytes <= rows.length; at += rowBytes) {
    if (rows.slice(at + 34, at + 36) !== listening) return null;
    if (rows.slice(at + 14, at + 19) !== end) continue;
    const address = rows.slice(at + 6, at + 14);
    if (address === anyIpv4 || loopback.includes(address))
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
  const locals = formatListeners(url);
  const tables = await Promise.all(socketTables.map(readTable));
  return parseSockets(tables.join("\n"), locals).some(
    ({ local, state, owner }) =>
      state === listening && locals.includes(local) && owner !== uid && owner !== 0,
  );
}

/** The client of a connection, as the server sees it. */
export interface SocketEnd {
  readonly address: string;
  readonly port: number;
}

/** The kernel prints the tables in pieces, and can leave out a row while other sockets come and go. */
const maxClientReads = 3;

/**
 * Whether the process at the other end of a connection to this port of 127.0.0.1 belongs to this user, or to root. True where
 * the system has no such table. A connection that cannot be found is refused: while its owner waits for a response, it is in
 * the table. root counts because it can read the token anyway, and relays of the system, such as WSL's, run as root.
 */
export async function isOwnConnection(client: SocketEnd, serverPort: number): Promise<boolean> {
  const uid = process.getuid?.();
  if (process.platform !== "linux" || uid === undefined) return true;
  for (let reads = 0; reads < maxClientReads; reads++) {
    // One after the other: to print one of them, the kernel searches its table of every connection.
    for (const path of socketTables) {
      const table = await readTableTogether(path);
      if (table === null && path === socketTable) return true;
      const owner = findClientOwner(table ?? "", client, serverPort);
      if (owner !== null) return owner === uid || owner === 0;
    }
  }
  return false;
}

/**
 * null if there is no such connection. Only one with both ends at 127.0.0.1, established, and in use by a process: what the kernel
 * keeps after a socket was closed has no inode, and root as its owner, although another user had it.
 */
export function findClientOwner(
  table: string,
  { address, port }: SocketEnd,
  serverPort: number,
): number | null {
  if (address !== "127.0.0.1") return null;
  const formats = [...formatIpv4(address), ...formatMapped(address)];
  const ends = formats.map((end) => `${end}:${formatPort(port)} ${end}:${formatPort(serverPort)}`);
  const socket = parseSockets(table, ends).find(
    ({ local, remote, state, inode }) =>
      state === established && inode !== 0 && ends.includes(`${local} ${remote}`),
  );
  return socket?.owner ?? null;
}

/**
 * The inodes of our ends of the connections to this port of 127.0.0.1 whose clients belong to other users than this one and root.
 * One that was not accepted yet has none.
 */
export function findForeignInodes(table: string, serverPort: number, uid: number): ReadonlySet<string> {
  // An IPv6 socket's address ends with the IPv4 address as the other end has it.
  const shorten = (end: string): string => end.slice(-"0100007F:1188".length);
  const servers = new Set(formatIpv4("127.0.0.1").map((address) => `${address}:${formatPort(serverPort)}`));
  const sockets = parseSockets(table, servers);
  const foreign = new Set<string>();
  for (const { local, remote, owner, inode } of sockets)
    if (inode !== 0 && owner !== uid && owner !== 0 && servers.has(shorten(remote)))
      foreign.add(shorten(local));
  const inodes = new Set<string>();
  for (const { local, remote, inode } of sockets)
    if (inode !== 0 && servers.has(local) && foreign.has(remote)) inodes.add(String(inode));
  return inodes;
}

/** null if the system has none. */
const readTable = (path: string): Promise<string | null> =>
  Bun.file(path)
    .text()
    .catch(() => null);

const readings = new Map<
  string,
  { readonly current: Promise<unknown>; next: Promise<string | null> | null }
>();

/**
 * Callers that wait at the same time get the same text, of a read that starts after each of them has called. Another user can send
 * many requests, and with many sockets each read takes a tenth of a second.
 */
function readTableTogether(path: string): Promise<string | null> {
  const reading = readings.get(path);
  if (reading) {
    reading.next ??= reading.current.then(() => startReading(path));
    return reading.next;
  }
  return startReading(path);
}

function startReading(path: string): Promise<string | null> {
  const current = readTable(path);
  const reading = { current, next: null };
  readings.set(path, reading);
  current.then(() => {
    if (readings.get(path) === reading && reading.next === null) readings.delete(path);
  });
  return current;
}

/** The rows with one of these texts. Another user can open any number of sockets, so no other row is looked at. */
function parseSockets(table: string, texts: Iterable<string>) {
  const rows = new Set([...texts].flatMap((text) => findRows(table, text)));
  return [...rows].map((row) => {
    const [, local = "", remote = "", state = "", , , , owner = "", , inode = ""] = row.trim().split(/\s+/);
    return { local, remote, state, owner: Number(owner), inode: Number(inode) };
  });
}

function findRows(table: string, text: string): string[] {
  const rows: string[] = [];
  for (let at = table.indexOf(text); at >= 0; ) {
    const end = table.indexOf("\n", at);
    rows.push(table.slice(table.lastIndexOf("\n", at) + 1, end < 0 ? undefined : end));
    at = end < 0 ? -1 : table.indexOf(text, end);
  }
  return rows;
}

/** The sockets that get connections to this address, as the kernel prints them. */
function formatListeners({ hostname, port }: URL): string[] {
  const host = hostname === "localhost" ? "127.0.0.1" : hostname;
  const addresses =
    host === "[::1]"
      ? [`${"0".repeat(24)}01000000`, `${"0".repeat(31)}1`, anyIpv6]
      : [...formatIpv4(host), anyIpv4, ...formatMapped(host), anyIpv6];
  return addresses.map((address) => `${address}:${formatPort(Number(port || 80))}`);
}

const formatPort = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0");

/** An IPv4 address as the kernel prints it on a little-endian and on a big-endian processor. */
function formatIpv4(address: string): [littleEndian: string, bigEndian: string] {
  const bytes = address.split(".").map((byte) => Number(byte).toString(16).toUpperCase().padStart(2, "0"));
  return [bytes.toReversed().join(""), bytes.join("")];
}

/** The same address as an IPv6 socket has it. */
function formatMapped(address: string): [littleEndian: string, bigEndian: string] {
  const [littleEndian, bigEndian] = formatIpv4(address);
  return [`0000000000000000FFFF0000${littleEndian}`, `00000000000000000000FFFF${bigEndian}`];
}
