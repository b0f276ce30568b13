/** The connection on which a service reports taps and replies: kept open from `start` to `stop`. */
import { type KeepConnectedOptions, type KeptConnection, keepConnected } from "../system/keep-connected.ts";

export interface Listener {
  start(): void;
  stop(): Promise<void>;
  /** Why nothing is received now; null if all is well. */
  problem(): string | null;
}

export interface ListenerOptions
  extends Pick<KeepConnectedOptions, "connect" | "backoff" | "onProblem" | "schedule"> {
  /** For the log and `problem`. */
  readonly formatProblem?: (reason: string) => string;
}

/** The clients of a server that restarts must not all return at once. */
export const listenerBackoff = { firstMs: 1_000, maxMs: 60_000, jitter: 0.25 };

export function createListener({
  formatProblem = (reason) => reason,
  onProblem,
  ...options
}: ListenerOptions): Listener {
  let connection: KeptConnection | null = null;
  return {
    start() {
      connection ??= keepConnected({
        ...options,
        permanentRetryMs: options.backoff.maxMs,
        onProblem: (reason) => onProblem?.(formatProblem(reason)),
      });
    },
    async stop() {
      const stopping = connection?.stop();
      connection = null;
      await stopping;
    },
    problem() {
      const reason = connection?.problem() ?? null;
      return reason === null ? null : formatProblem(reason);
    },
  };
}
