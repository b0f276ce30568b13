/**
 * A server of Redis or Valkey. Bun's client is told nothing when a server hangs: each command has a time limit here, and a connection that
 * did not answer is not used again.
 */
import { RedisClient } from "bun";
import { readErrorMessage } from "../../core/error-message.ts";
import { waitAtMost } from "../../system/schedule.ts";

export interface RedisAddress {
  /** redis:// or rediss://, with the user's name if there is one, without a password. */
  readonly url: string;
  readonly password: string | null;
  /** PEM texts: an authority of one's own, and what this machine shows of itself. */
  readonly ca: string | null;
  readonly certificate: string | null;
  readonly key: string | null;
}

export interface Redis {
  /** Rejects with a RedisProblem. */
  send(command: string, args: readonly string[], timeoutMs?: number): Promise<unknown>;
  close(): void;
}

export class RedisProblem extends Error {
  constructor(
    message: string,
    /** It would fail again: a wrong password, a missing right. */
    readonly isPermanent = false,
  ) {
    super(message);
    this.name = "RedisProblem";
  }
}

const defaultTimeoutMs = 5_000;
const connectMs = 5_000;

/** What servers say, and what the user is told. */
const explanations: readonly (readonly [RegExp, string, boolean])[] = [
  [/WRONGPASS|NOAUTH|AUTH failed|invalid.*password/i, "the name or the password is wrong", true],
  [/NOPERM/, "the user may not do that there: see the ACL in docs/fleet.md", true],
  [/CROSSSLOT/, "its cluster does not keep the keys of a fleet together", true],
  [/MOVED|^ASK|TRYAGAIN|CLUSTERDOWN/, "its cluster is being rearranged", false],
  // After a failover, the same address can be the primary again.
  [/READONLY/, "it is a copy that cannot be written to: name its primary server", false],
  [/unknown command/i, "it is a Sentinel, or older than Redis 6.2: name the primary server", true],
  [/WRONGTYPE/, "another program uses the key there", true],
  [/^OOM|OOM command not allowed/, "its memory is full", false],
  [/MISCONF/, "it cannot write to its disk", false],
  [/LOADING/, "it is still reading its data", false],
  [/Connection timeout/i, "it does not answer", false],
  [
    /CONNECTION_CLOSED|Connection (?:closed|refused)|ECONNREFUSED|Failed to connect/i,
    "it cannot be reached",
    false,
  ],
  [
    /CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE|UNKNOWN_CA/,
    "it wants a certificate of this machine that it trusts",
    true,
  ],
  [/altname|ERR_TLS_CERT/i, "its certificate is for another name", true],
  [/certificate|self.signed|TLS|SSL/i, "its certificate is not trusted", true],
];

function explain(error: unknown, { password }: RedisAddress): RedisProblem {
  if (error instanceof RedisProblem) return error;
  const text = readErrorMessage(error);
  const found = explanations.find(([pattern]) => pattern.test(text));
  if (found) return new RedisProblem(found[1], found[2]);
  return new RedisProblem(password ? text.replaceAll(password, "…") : text);
}

/** A node of a cluster names the one that has the key. All keys of a fleet are at one node, so the connection goes there. */
function findOtherNode(error: unknown, url: string): string | null {
  const [, host, port] = /^MOVED \d+ (.*):(\d+)$/.exec(readErrorMessage(error)) ?? [];
  if (host === undefined || port === undefined) return null;
  const other = new URL(url);
  // Without a name, it is the host that was asked.
  if (host !== "") other.hostname = host.includes(":") ? `[${host}]` : host;
  other.port = port;
  return other.href;
}

const dropNull = (fields: Readonly<Record<string, string | null>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );

function createClient({ url, password, ca, certificate, key }: RedisAddress): RedisClient {
  const address = new URL(url);
  if (password !== null) address.password = encodeURIComponent(password);
  // Redis asks for a name where there is a password; its first user has this one.
  if (password !== null && address.username === "") address.username = "default";
  const tls = address.protocol === "rediss:" ? dropNull({ ca, cert: certificate, key }) : null;
  return new RedisClient(address.href, {
    connectionTimeout: connectMs,
    autoReconnect: false,
    enableOfflineQueue: true,
    ...(tls ? { tls } : {}),
  });
}

export function openRedis(address: RedisAddress): Redis {
  let client: RedisClient | null = null;
  let isClosed = false;

  function drop(failed: RedisClient): void {
    if (client === failed) client = null;
    failed.close();
  }

  async function send(
    url: string,
    command: string,
    args: readonly string[],
    timeoutMs: number,
  ): Promise<unknown> {
    if (isClosed) throw new RedisProblem("the connection is closed");
    client ??= createClient({ ...address, url });
    const used = client;
    try {
      // null is a reply too: what does not come in time is undefined.
      const reply = await waitAtMost<unknown>(timeoutMs, used.send(command, [...args]));
      if (reply === undefined) throw new RedisProblem("it does not answer");
      return reply;
    } catch (error) {
      const other = url === address.url ? findOtherNode(error, url) : null;
      if (other !== null) {
        drop(used);
        return send(other, command, args, timeoutMs);
      }
      const problem = explain(error, address);
      // A reply that is an error leaves the connection as good as it was.
      if (!/^(?:ERR|WRONGTYPE|OOM|NOPERM|BUSYGROUP|MISCONF)/.test(readErrorMessage(error))) drop(used);
      throw problem;
    }
  }

  return {
    send: (command, args, timeoutMs = defaultTimeoutMs) => send(address.url, command, args, timeoutMs),
    close() {
      isClosed = true;
      client?.close();
      client = null;
    },
  };
}
