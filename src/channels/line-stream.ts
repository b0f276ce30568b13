/** A stream of lines over HTTP that reconnects by itself: after the server closed it, and after a silence. */
import { readErrorMessage } from "../core/error-message.ts";
import type { Schedule } from "../core/ports.ts";
import { schedule as systemSchedule } from "../system/schedule.ts";
import { DeliveryError } from "./channel.ts";
import { describeFailure, startFetch } from "./http.ts";

export interface LineStreamOptions {
  /** Of the service, for users. */
  readonly name: string;
  /** The address to read from, also after a reconnect. */
  readonly url: () => string;
  readonly headers: Readonly<Record<string, string>>;
  readonly onLine: (line: string) => void;
  readonly onProblem: (text: string) => void;
  /** A stream without a line for this long is taken to be dead. */
  readonly silenceMs: number;
  readonly schedule?: Schedule | undefined;
}

export interface LineStream {
  start(): void;
  stop(): Promise<void>;
  /** null while it is connected. */
  problem(): string | null;
}

const firstPauseMs = 1_000;
const maxPauseMs = 60_000;
const maxLineLength = 64 * 1024;

export function createLineStream(options: LineStreamOptions): LineStream {
  const { schedule = systemSchedule, silenceMs } = options;
  let controller: AbortController | null = null;
  let running: Promise<void> | null = null;
  let cancelPause = () => {};
  let endPause = () => {};
  let isStopped = false;
  let failures = 0;
  let problem: string | null = null;

  async function readOnce(): Promise<void> {
    const aborter = new AbortController();
    controller = aborter;
    const url = options.url();
    const giveUp = () => aborter.abort(new DeliveryError(`${options.name} does not answer`));
    let cancelSilence = schedule(giveUp, silenceMs);
    const extend = () => {
      cancelSilence();
      cancelSilence = schedule(giveUp, silenceMs);
    };
    try {
      const response = await startFetch(url, {
        headers: { ...options.headers },
        redirect: "manual",
        signal: aborter.signal,
      });
      if (!response.ok) throw new DeliveryError(`${options.name} answered ${response.status}`);
      failures = 0;
      problem = null;
      await readLines(response, extend);
      throw new DeliveryError(`${options.name} closed the connection`);
    } catch (error) {
      throw error instanceof DeliveryError ? error : new DeliveryError(describeFailure(url, error));
    } finally {
      cancelSilence();
    }
  }

  async function readLines(response: Response, onData: () => void): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of response.body ?? []) {
      onData();
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > maxLineLength)
        throw new DeliveryError(`${options.name} sent a line that is too long`);
      for (const line of lines) if (line.trim() !== "") takeLine(line);
    }
  }

  function takeLine(line: string): void {
    try {
      options.onLine(line);
    } catch (error) {
      options.onProblem(
        `${options.name} sent a line that cannot be read: ${readErrorMessage(error).slice(0, 100)}`,
      );
    }
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      try {
        await readOnce();
      } catch (error) {
        if (isStopped) return;
        failures++;
        // A server may close a stream at any time. Only if it cannot be opened again at once is that a problem.
        if (failures > 1) {
          const text = `answers cannot be received: ${readErrorMessage(error).slice(0, 200)}`;
          if (problem !== text) options.onProblem(text);
          problem = text;
        }
      }
      await pause(failures === 0 ? firstPauseMs : Math.min(maxPauseMs, firstPauseMs * 2 ** (failures - 1)));
    }
  }

  function pause(ms: number): Promise<void> {
    if (isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      endPause = resolve;
      cancelPause = schedule(resolve, ms);
    });
  }

  return {
    start() {
      running ??= run();
    },
    async stop() {
      isStopped = true;
      cancelPause();
      endPause();
      controller?.abort();
      await running;
    },
    problem: () => problem,
  };
}
