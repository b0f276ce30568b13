/** A real redis-server, on a port of its own, with its data in a temporary folder. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRedis } from "../../../src/machines/fleet/redis.ts";
import { findFreePort } from "../../bench/processes.ts";
import { waitUntil } from "../../wait-until.ts";

export const noCertificates = { ca: null, certificate: null, key: null };

/** A server in another network is reached from here by a socket. */
interface ServerNetwork {
  readonly enter: readonly string[];
  readonly address: string;
}

export async function startRedis(args: readonly string[] = [], network?: ServerNetwork) {
  const folder = mkdtempSync(join(tmpdir(), "beckon-redis-"));
  const port = network ? 6379 : findFreePort();
  const socket = join(folder, "socket");
  const command = [
    ...(network?.enter ?? []),
    "redis-server",
    ...["--port", String(port), "--bind", network?.address ?? "127.0.0.1", "--dir", folder],
    ...["--appendonly", "yes", ...(network ? ["--protected-mode", "no", "--unixsocket", socket] : [])],
    ...["--save", "", "--loglevel", "warning", ...args],
  ];
  const spawn = () => Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  let server = spawn();
  const url = network ? `redis+unix://${socket}` : `redis://127.0.0.1:${port}/0`;
  async function waitForIt(): Promise<void> {
    await waitUntil(async () => {
      const redis = openRedis({ url, password: null, ...noCertificates });
      try {
        await redis.send("PING", []);
        return true;
      } catch (error) {
        return /password/.test(String(error));
      } finally {
        redis.close();
      }
    }, 20_000);
  }
  await waitForIt();
  async function stop(): Promise<void> {
    server.kill("SIGKILL");
    await server.exited;
  }
  return {
    url,
    port,
    open: (password: string | null = null) => openRedis({ url, password, ...noCertificates }),
    signal: (name: NodeJS.Signals) => server.kill(name),
    stop,
    async start(): Promise<void> {
      server = spawn();
      await waitForIt();
    },
    async destroy(): Promise<void> {
      server.kill("SIGCONT");
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
