/** A stream of lines over HTTP that reconnects by itself: after the server closed it, and after a silence. */
import { readErrorMessage } from "../core/error-message.ts";
import type { Schedule } from "../core/interfaces/index.ts";
import { describeFetchFailure } from "../system/fetch-failure.ts";
import type { Attempt } from "../system/keep-connected.ts";
import { schedule as systemSchedule } from "../system/schedule.ts";
import { DeliveryError } from "./channel.ts";
import { findStatusError, startFetch } from "./http.ts";
import { createListener, type Listener, listenerBackoff } from "./listener.ts";

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

const maxLineLength = 64 * 1024;
const maxReasonLength = 200;

export function createLineStream(options: LineStreamOptions): Listener {
  const { schedule = systemSchedule, silenceMs } = options;

  async function connect({ signal, onConnected, setDeadline }: Attempt): Promise<void> {
    const url = options.url();
    const expectData = () =>
      setDeadline({ ms: silenceMs, error: new DeliveryError(`${options.name} does not answer`) });
    expectData();
    try {
      const response = await startFetch(url, { headers: { ...options.headers }, redirect: "manual", signal });
      const error = findStatusError(options.name, response);
      if (error) throw error;
      onConnected();
      await readLines(response, expectData);
      throw new DeliveryError(`${options.name} closed the connection`);
    } catch (error) {
      throw error instanceof DeliveryError ? error : new DeliveryError(describeFetchFailure(url, error));
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

  return createListener({
    connect,
    backoff: listenerBackoff,
    formatProblem: (reason) => `answers cannot be received: ${reason.slice(0, maxReasonLength)}`,
    onProblem: options.onProblem,
    schedule,
  });
}
