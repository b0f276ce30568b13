/**
 * The lifecycle stream on a server of Redis: the same lines as in the file, for programs on other machines. While the server is away they
 * wait here, in order and up to a limit; a session's own work never waits for it.
 */
import { type Backoff, computeRetryMs } from "../core/backoff.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type { Schedule } from "../core/interfaces/index.ts";
import { formatCount } from "../core/text/words.ts";
import { pause, waitAtMost } from "../system/schedule.ts";

/** The key of the stream at the server. */
export const streamKey = "beckon:lifecycle";

interface Connection {
  send(command: string, args: readonly string[]): Promise<unknown>;
  close(): void;
}

export interface RedisStreamOptions {
  /** Rejects if its files cannot be read. Commands connect by themselves, and again after a failure. */
  readonly open: () => Promise<Connection>;
  /** What users call the server: its host and port. */
  readonly server: string;
  /** The name of this machine: several can write to one stream. */
  readonly machine: string;
  readonly maxEntries: () => number;
  readonly schedule: Schedule;
  readonly onProblem: (text: string) => void;
}

export interface RedisStream {
  append(line: string): void;
  /** Why lines wait; null if they do not. */
  problem(): string | null;
  /** Gives what waits a moment. Then it is lost. */
  stop(): Promise<void>;
}

const maxWaitingLines = 10_000;
/** Characters of all lines. */
const maxWaitingLength = 4 * 1024 * 1024;
const backoff: Backoff = { firstMs: 200, maxMs: 30_000, jitter: 0.2 };
const farewellMs = 1_000;

export function createRedisStream(options: RedisStreamOptions): RedisStream {
  const { server, machine, schedule, onProblem } = options;
  const stopping = new AbortController();
  const waiting: string[] = [];
  let waitingLength = 0;
  /** Since the server answered last. */
  let lost = 0;
  let problem: string | null = null;
  let connection: Connection | null = null;
  let sending: Promise<void> | null = null;

  async function send(line: string): Promise<void> {
    connection ??= await options.open();
    const length = String(options.maxEntries());
    // A line whose reply was lost is sent again: readers know it by its id.
    await connection.send("XADD", [
      ...[streamKey, "MAXLEN", "~", length, "*"],
      ...["machine", machine, "line", line],
    ]);
  }

  function setProblem(reason: string): void {
    if (problem === null)
      onProblem(
        `the stream at ${server} cannot be written: ${reason}. Up to ${maxWaitingLines} of its lines wait`,
      );
    problem = reason;
  }

  function endProblem(): void {
    if (problem === null) return;
    const missing = lost === 0 ? "" : `; ${formatCount(lost, "line")} had to be dropped meanwhile`;
    onProblem(`the stream at ${server} is written again${missing}`);
    problem = null;
    lost = 0;
  }

  async function sendAll(): Promise<void> {
    let failures = 0;
    for (let line = waiting[0]; line !== undefined && !stopping.signal.aborted; line = waiting[0]) {
      try {
        await send(line);
        // Meanwhile it can have been dropped for a newer one.
        if (waiting[0] === line) drop();
        failures = 0;
        endProblem();
      } catch (error) {
        failures++;
        setProblem(readErrorMessage(error));
        const pauseMs = computeRetryMs(backoff, failures, { random: Math.random() });
        await pause(pauseMs, stopping.signal, schedule);
      }
    }
    sending = null;
  }

  function drop(): void {
    waitingLength -= waiting.shift()?.length ?? 0;
  }

  return {
    append(line) {
      if (stopping.signal.aborted) return;
      waiting.push(line);
      waitingLength += line.length;
      while (waiting.length > maxWaitingLines || waitingLength > maxWaitingLength) {
        drop();
        lost++;
      }
      sending ??= sendAll();
    },
    problem: () => problem,
    async stop() {
      if (sending) await waitAtMost(farewellMs, sending);
      stopping.abort();
      connection?.close();
    },
  };
}
