/**
 * A link to another machine: a command, `ssh HOST beckon link` for example, whose standard input and output carry messages. It is run
 * again whenever it ends. What authenticates is the command's own affair.
 */
import { version } from "../../package.json";
import type { Schedule } from "../core/interfaces/index.ts";
import { toSingleLine, truncateEnd } from "../core/text/text.ts";
import { type Attempt, keepConnected } from "../system/keep-connected.ts";
import { readLines, throttle } from "../system/lines.ts";
import { waitAtMost } from "../system/schedule.ts";
import type { Carrier, CarrierEvents, Hello } from "./carrier.ts";
import { explainEnd, LinkError, type LinkProblem, tooOld } from "./link-problem.ts";
import {
  type FollowerMessage,
  formatMessage,
  maxLineBytes,
  minProtocolVersion,
  parseOwnerMessage,
  protocolVersion,
} from "./protocol.ts";
import { createRateLimit } from "./rate-limit.ts";

export interface LinkOptions extends CarrierEvents {
  /** The user's name for the machine. */
  readonly machine: string;
  /** What this machine is called there. */
  readonly ownName: string;
  readonly argv: readonly string[];
  readonly onProblem: (text: string) => void;
  readonly schedule: Schedule;
}

const backoff = { firstMs: 1_000, maxMs: 60_000, jitter: 0.3 };
/** ssh asks several servers on its way, and the app there may have to be started. */
const helloMs = 30_000;
/** The owner says every 15 s that it is alive. */
const silenceMs = 40_000;
const maxErrorLength = 2_000;
/** Some hundred sessions at once when the link opens. What comes faster waits: 2 MB of nothing but brackets take 0.4 s to parse. */
const bytesPerSecond = 2 * 1024 * 1024;
const errorBytesPerSecond = 64 * 1024;
/** For what a command has printed before it ended. */
const lastOutputMs = 500;
const killMs = 2_000;
const maxMessagesPerSecond = 1_000;
/** Lines of the log about what one connection sent. */
const maxReports = 10;

export function createLink(options: LinkOptions): Carrier {
  /** Of the connection there is. */
  let write: ((text: string) => void) | null = null;
  let problemKind: LinkProblem = "down";
  /** Until the machine has said what was missed; and once something of this connection was dropped, until the next one. */
  let isMissing = false;

  async function connect({ signal, onConnected, setDeadline }: Attempt): Promise<void> {
    const child = spawnLink(options.argv);
    /** A process that the command leaves behind can keep its output open. */
    const over = new AbortController();
    const stop = () => {
      // It did not answer in time.
      if (signal.aborted) problemKind = "down";
      over.abort();
      child.kill();
      void waitAtMost(killMs, child.exited).then((code) => code ?? child.kill("SIGKILL"));
    };
    signal.addEventListener("abort", stop);
    void child.exited.then(() => options.schedule(() => over.abort(), lastOutputMs));
    const errors: string[] = [];
    const stderr = throttle(child.stderr, { bytesPerSecond: errorBytesPerSecond, signal: over.signal });
    const readingErrors = readLines(stderr, maxErrorLength, (line) => {
      errors.push(line);
      if (errors.length > 20) errors.shift();
    });
    let isOpen = false;
    const expectMessage = (ms: number) =>
      setDeadline({ ms, error: new LinkError("down", "it does not answer") });
    const report = createReporter();
    const rate = createRateLimit(maxMessagesPerSecond, () =>
      report(`more than ${maxMessagesPerSecond} messages came in a second: the rest is dropped`),
    );
    expectMessage(helloMs);
    // A command that has ended reads nothing any more: why it ended is said below.
    const writeToChild = (text: string) => {
      child.stdin.write(text);
      void Promise.resolve(child.stdin.flush()).catch(() => {});
    };
    write = writeToChild;
    const hello: Extract<FollowerMessage, { kind: "hello" }> = {
      kind: "hello",
      protocol: protocolVersion,
      version,
      name: options.ownName,
      ...options.greeting?.(),
    };
    let hasDropped = false;
    isMissing = hello.resume !== undefined;
    send(hello);

    function takeLine(line: string): void {
      if (line === "" || write !== writeToChild) return;
      if (!rate.take()) {
        hasDropped = isMissing = true;
        return;
      }
      if (isOpen) expectMessage(silenceMs);
      const message = parseOwnerMessage(line);
      if (message === null) return;
      if (typeof message === "string") {
        report(line.length > maxLineBytes ? "a line is too long, and is ignored" : message);
        return;
      }
      if (message.kind === "refused")
        throw new LinkError("refused", truncateEnd(toSingleLine(message.says), 200));
      if (message.kind === "hello") {
        if (isOpen) return;
        greet(message);
        isOpen = true;
        // Another machine has taken its place.
        if (message.machineId !== hello.resume?.machineId) isMissing = false;
        expectMessage(silenceMs);
        onConnected();
        options.onOpened(message);
      } else if (isOpen) {
        if (message.kind === "missed" && !message.isPart) isMissing = hasDropped;
        options.onMessage(message);
      }
      if (rate.hasGap()) send({ kind: "everything" });
    }

    try {
      const stdout = throttle(child.stdout, { bytesPerSecond, signal: over.signal });
      await readLines(stdout, maxLineBytes, takeLine);
      if (signal.aborted) return;
      const code = await child.exited;
      await readingErrors;
      throw explainEnd(code, errors.join("\n"));
    } catch (error) {
      problemKind = error instanceof LinkError ? error.problem : "down";
      throw error;
    } finally {
      write = null;
      signal.removeEventListener("abort", stop);
      stop();
      if (isOpen) options.onLost();
    }
  }

  /** Throws if the machine cannot be linked. */
  function greet(hello: Hello): void {
    if (hello.protocol < minProtocolVersion) throw tooOld();
    const reason = options.refuse?.(hello) ?? null;
    if (reason !== null) throw new LinkError("refused", reason);
  }

  /** A machine that sends nothing but mistakes must not fill the log. */
  function createReporter(): (problem: string) => void {
    const reported = new Set<string>();
    return (problem) => {
      if (reported.has(problem) || reported.size >= maxReports) return;
      reported.add(problem);
      options.onProblem(`${options.machine}: ${problem}`);
    };
  }

  function send(message: FollowerMessage): boolean {
    if (write === null) return false;
    try {
      write(formatMessage(message));
      return true;
    } catch {
      return false;
    }
  }

  const connection = keepConnected({
    connect,
    backoff,
    schedule: options.schedule,
    onFailure: ({ reason }) => options.onFailure?.(reason, problemKind),
    onProblem: (reason) => options.onProblem(`${options.machine} is not linked: ${reason}`),
  });
  const { problem, retryNow, stop } = connection;
  return { send, isMissing: () => isMissing, problem, problemKind: () => problemKind, retryNow, stop };
}

function spawnLink(argv: readonly string[]) {
  try {
    return Bun.spawn([...argv], { stdin: "pipe", stdout: "pipe", stderr: "pipe", windowsHide: true });
  } catch (error) {
    throw new LinkError("down", `${argv[0]} could not be run: ${(error as Error).message}`);
  }
}
