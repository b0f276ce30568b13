/** The server of `stream.url`: follows the settings. The client of Redis is loaded with the first line for it. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { readRedisUrl } from "../core/config/redis-url.ts";
import type { StreamServerReport } from "../setup/doctor/stream.ts";
import { errorCode } from "../storage/files.ts";
import type { StreamServer } from "../streams/lifecycle-stream.ts";
import { createRedisStream, type RedisStream } from "../streams/redis-stream.ts";
import { schedule } from "../system/schedule.ts";
import type { Base } from "./base.ts";

export interface AppStreamServer extends StreamServer {
  /** Stops what the settings do not name any more. */
  update(): void;
  /** null without such a server. */
  report(): StreamServerReport | null;
  problems(): readonly string[];
  stop(): Promise<void>;
}

type StreamSettings = ReturnType<Base["config"]>["stream"];

export function createStreamServer({ config, env, options, onProblem }: Base): AppStreamServer {
  /** For the settings that it was opened with. */
  let opened: { readonly settings: string; readonly stream: RedisStream } | null = null;
  // A project could name a folder with settings of its own, and so a server that gets the prompts.
  const isDisabled = options.isFromHook === true && Boolean(env.BECKON_HOME);
  const readUrl = (): string | null => (isDisabled ? null : config().stream.url);
  const identify = ({ url, urlFiles }: StreamSettings) => JSON.stringify([url, urlFiles]);

  function open(url: string): RedisStream {
    const { urlFiles } = config().stream;
    const stream = createRedisStream({
      server: new URL(url).host,
      machine: hostname(),
      maxEntries: () => config().stream.maxEntries,
      schedule,
      onProblem,
      async open() {
        const { openRedis } = await import("../machines/fleet/redis.ts");
        const read = (path: string | undefined) => (path === undefined ? null : readText(path));
        const { password, ca, cert, key } = urlFiles;
        return openRedis({
          url,
          password: read(password)?.trim() ?? null,
          ca: read(ca),
          certificate: read(cert),
          key: read(key),
        });
      },
    });
    opened = { settings: identify(config().stream), stream };
    return stream;
  }

  /** null if the address is not that of such a server: the settings say so to the user. */
  function openNamed(url: string): RedisStream | null {
    const address = readRedisUrl(url);
    return typeof address === "string" ? null : open(address.url);
  }

  function report(): StreamServerReport | null {
    const url = readUrl();
    return url === null ? null : { server: new URL(url).host, problem: opened?.stream.problem() ?? null };
  }

  return {
    isOn: () => readUrl() !== null,
    append(line) {
      const url = readUrl();
      if (url !== null) (opened?.stream ?? openNamed(url))?.append(line);
    },
    update() {
      if (opened === null || (readUrl() !== null && opened.settings === identify(config().stream))) return;
      void opened.stream.stop();
      opened = null;
    },
    report,
    problems() {
      const { server, problem } = report() ?? { server: "", problem: null };
      return problem === null ? [] : [`the stream at ${server} cannot be written: ${problem}`];
    },
    stop: async () => opened?.stream.stop(),
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`${path} cannot be read (${errorCode(error)})`);
  }
}
