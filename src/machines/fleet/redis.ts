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
  [/MOVED|CLUSTERDOWN|CROSSSLOT/, "it is a node of a Redis Cluster, which beckon cannot use", true],
  [/READONLY/, "it is a copy that cannot be written to: name its primary server", true],
  [/^OOM|OOM command not allowed/, "its memory is full", false],
  [/MISCONF/, "it cannot write to its disk", false],
  [/LOADING/, "it is still reading its data", false],
  [/Connection timeout/i, "it does not answer", false],
  [
    /CONNECTION_CLOSED|Connection (?:closed|refused)|ECONNREFUSED|Failed to connect/i,
    "it cannot be reached",
    false,
  ],
  [/certificate|self.signed|TLS|SSL/i, "its certificate is not trusted", true],
];

function explain(error: unknown): RedisProblem {
  if (error instanceof RedisProblem) return error;
  const text = readErrorMessage(error);
  const found = explanations.find(([pattern]) => pattern.test(text));
  return found ? new RedisProblem(found[1], found[2]) : new RedisProblem(text);
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

  return {
    async send(command, args, timeoutMs = defaultTimeoutMs) {
      if (isClosed) throw new RedisProblem("the connection is closed");
      client ??= createClient(address);
      const used = client;
      try {
        // null is a reply too: what does not come in time is undefined.
        const reply = await waitAtMost<unknown>(timeoutMs, used.send(command, [...args]));
        if (reply === undefined) throw new RedisProblem("it does not answer");
        return reply;
      } catch (error) {
        const problem = explain(error);
        // A reply that is an error leaves the connection as good as it was.
        if (!/^(?:ERR|WRONGTYPE|OOM|NOPERM|BUSYGROUP|MISCONF)/.test(readErrorMessage(error))) drop(used);
        throw problem;
      }
    },
    close() {
      isClosed = true;
      client?.close();
      client = null;
    },
  };
}
