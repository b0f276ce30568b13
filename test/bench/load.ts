/**
 * bun load.ts '{"port":4488,…}'   posts bodies over keep-alive connections, each when the one before is answered.
 * Its own process, on bare sockets, so that its CPU time is not the receiver's. Prints one line of JSON.
 */
import { bodies, type Work } from "./bodies.ts";

export interface Load extends Work {
  readonly port: number;
  /** A header line; "" if there is none. */
  readonly authorization: string;
  readonly connections: number;
}

export interface Loaded {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers other than 200: if there is one, the figures mean nothing. */
  readonly refused: number;
  readonly cpuMs: number;
  readonly wallMs: number;
}

function createRequests(load: Load): Buffer[] {
  const head = [
    "POST /api/hook HTTP/1.1",
    `Host: 127.0.0.1:${load.port}`,
    ...(load.authorization ? [load.authorization] : []),
    "Content-Type: application/json",
    "Content-Length: ",
  ].join("\r\n");
  return Array.from(bodies(load), ({ text }) =>
    Buffer.from(`${head}${Buffer.byteLength(text)}\r\n\r\n${text}`),
  );
}

async function run(load: Load): Promise<Loaded> {
  const requests = createRequests(load);
  const tookMs = new Float64Array(requests.length);
  const done = Promise.withResolvers<void>();
  const open: Bun.Socket<{ sentAt: number }>[] = [];
  let next = 0;
  let answered = 0;
  let refused = 0;

  function send(socket: Bun.Socket<{ sentAt: number }>): void {
    const request = requests[next++];
    if (!request) return;
    socket.data.sentAt = performance.now();
    // The one before is answered, so the socket's buffer is empty and has room for a whole request.
    if (socket.write(request) !== request.length)
      done.reject(new Error("a request was not written in one go"));
  }

  for (let n = 0; n < load.connections; n++) {
    const socket = await Bun.connect<{ sentAt: number }>({
      hostname: "127.0.0.1",
      port: load.port,
      data: { sentAt: 0 },
      socket: {
        data(from, answer) {
          tookMs[answered++] = performance.now() - from.data.sentAt;
          // "HTTP/1.1 200"
          if (answer[9] !== 50) refused++;
          if (answered === requests.length) done.resolve();
          else send(from);
        },
        close: () => done.reject(new Error("the receiver closed a connection")),
      },
    });
    open.push(socket);
  }
  const before = process.cpuUsage();
  const started = performance.now();
  for (const socket of open) send(socket);
  await done.promise;
  const wallMs = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  const sorted = tookMs.sort();
  return {
    perSecond: (requests.length / wallMs) * 1_000,
    p50Ms: sorted[Math.floor(sorted.length * 0.5)] ?? 0,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    refused,
    cpuMs: (user + system) / 1_000,
    wallMs,
  };
}

if (import.meta.main) {
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2] ?? "{}")))}\n`);
  process.exit(0);
}
