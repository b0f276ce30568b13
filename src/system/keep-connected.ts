/**
 * Keeps a connection: opens it again whenever it ends, with pauses that grow while it fails. For everything that is to stay
 * connected: a stream of a service, a program that must keep running.
 */
import { type Backoff, computeRetryMs } from "../core/backoff.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type { Schedule } from "../core/interfaces/index.ts";

/** What an error may say about the next attempt. Any error with these fields is understood. */
export interface ConnectionFailure {
  /** The other side asks for this pause; null if it does not. */
  readonly retryAfterMs?: number | null;
  /** It would fail again: a wrong token. */
  readonly isPermanent?: boolean;
  /** Not a problem unless the next attempt fails too. If absent: a connection that was open and ended is routine. */
  readonly isRoutine?: boolean;
}

export class ConnectionError extends Error {
  readonly retryAfterMs: number | null;
  readonly isPermanent: boolean;
  readonly isRoutine: boolean | undefined;

  constructor(
    message: string,
    { retryAfterMs = null, isPermanent = false, isRoutine }: ConnectionFailure = {},
  ) {
    super(message);
    this.name = "ConnectionError";
    this.retryAfterMs = retryAfterMs;
    this.isPermanent = isPermanent;
    this.isRoutine = isRoutine;
  }
}

/** One attempt, and the connection that it opens. */
export interface Attempt {
  /** Aborted when the connection must end: it was stopped, or its deadline has passed. */
  readonly signal: AbortSignal;
  /** Failures in a row before this attempt. */
  readonly failures: number;
  /** The connection is open and works. */
  onConnected(): void;
  /** The connection fails with this error unless another deadline is set in time. Replaces the last one; null removes it. */
  setDeadline(deadline: { readonly ms: number; readonly error: Error } | null): void;
}

export interface FailedAttempt {
  readonly reason: string;
  /** In a row. */
  readonly failures: number;
  /** Until the next attempt; null if there is none. */
  readonly retryMs: number | null;
}

export interface KeepConnectedOptions {
  /**
   * Opens the connection. Rejects when it fails or is lost. Resolves when it has to be opened again as planned: at once, or after
   * the first pause if it did not stay open for `stableMs`.
   */
  readonly connect: (attempt: Attempt) => Promise<void>;
  readonly backoff: Backoff;
  /** A connection that stayed open this long was healthy: the next failure counts as the first. */
  readonly stableMs?: number;
  /** The pause after a permanent failure. If absent, there is no further attempt before `retryNow`. */
  readonly permanentRetryMs?: number;
  /** Called once for a reason, until the connection was healthy again or fails for another one. */
  readonly onProblem?: (reason: string) => void;
  readonly onFailure?: (failed: FailedAttempt) => void;
  readonly schedule: Schedule;
  /** Milliseconds on a monotonic clock. */
  readonly now?: () => number;
  /** For tests. */
  readonly random?: () => number;
}

export interface KeptConnection {
  /** Why it is not connected; null if it is, or if this is not a problem yet. */
  problem(): string | null;
  /** Ends the pause before the next attempt. */
  retryNow(): void;
  /** Makes no attempt any more. Resolves when `connect` has ended. */
  stop(): Promise<void>;
}

const defaultStableMs = 10_000;

export function keepConnected(options: KeepConnectedOptions): KeptConnection {
  const { backoff, schedule, stableMs = defaultStableMs } = options;
  const { now = () => performance.now(), random = Math.random } = options;
  let failures = 0;
  let problem: string | null = null;
  let reported: string | null = null;
  let isStopped = false;
  let connecting: Promise<unknown> = Promise.resolve();
  let endAttempt = () => {};
  let endPause = () => {};

  async function run(): Promise<void> {
    while (!isStopped) {
      const retryMs = await connectOnce();
      if (!isStopped && retryMs !== 0) await pause(retryMs);
    }
  }

  /** Resolves with the pause before the next attempt; null if there is none. */
  async function connectOnce(): Promise<number | null> {
    const ender = new AbortController();
    const deadlinePassed = Promise.withResolvers<never>();
    let connectedT: number | null = null;
    let cancelDeadline = () => {};
    let isOver = false;
    const end = (error: unknown) => {
      deadlinePassed.reject(error);
      ender.abort(error);
    };
    endAttempt = () => end(new ConnectionError("it was stopped"));
    const connected = (async () =>
      options.connect({
        signal: ender.signal,
        failures,
        onConnected() {
          if (isOver) return;
          connectedT ??= now();
          problem = null;
        },
        setDeadline(deadline) {
          cancelDeadline();
          if (deadline && !isOver) cancelDeadline = schedule(() => end(deadline.error), deadline.ms);
        },
      }))();
    connecting = connected.catch(() => {});
    try {
      await Promise.race([connected, deadlinePassed.promise]);
      return onEnded(connectedT, null);
    } catch (error) {
      return onEnded(connectedT, { error });
    } finally {
      isOver = true;
      cancelDeadline();
    }
  }

  function onEnded(connectedT: number | null, lost: { readonly error: unknown } | null): number | null {
    if (isStopped) return null;
    const wasStable = connectedT !== null && now() - connectedT >= stableMs;
    if (wasStable) {
      failures = 0;
      reported = null;
    }
    if (lost === null) return wasStable ? 0 : backoff.firstMs;
    failures++;
    const {
      retryAfterMs,
      isPermanent,
      isRoutine = connectedT !== null,
    }: ConnectionFailure = Object(lost.error);
    const retryMs = isPermanent
      ? (options.permanentRetryMs ?? null)
      : computeRetryMs(backoff, failures, { retryAfterMs: retryAfterMs ?? null, random: random() });
    const reason = readErrorMessage(lost.error);
    if (isPermanent || !isRoutine || failures > 1) setProblem(reason);
    options.onFailure?.({ reason, failures, retryMs });
    return retryMs;
  }

  function setProblem(reason: string): void {
    problem = reason;
    if (reported !== reason) options.onProblem?.(reason);
    reported = reason;
  }

  function pause(ms: number | null): Promise<void> {
    return new Promise((resolve) => {
      const cancel = ms === null ? () => {} : schedule(resolve, ms);
      endPause = () => {
        cancel();
        resolve();
      };
    });
  }

  // Later, so that the caller has the connection before its first event.
  queueMicrotask(() => void run());
  return {
    problem: () => problem,
    retryNow: () => endPause(),
    async stop() {
      isStopped = true;
      problem = null;
      endAttempt();
      endPause();
      await connecting;
    },
  };
}
