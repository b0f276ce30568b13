/** How long to wait before the next attempt at something that failed. Pure. */
import { dayMs } from "./timing.ts";

export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** The part of a pause that is left to chance, 0 to 1: the clients of a server that restarts must not all return at once. */
  readonly jitter?: number;
}

/** A server can ask for anything, and a timer that is set to 25 days or more fires at once. */
const maxRetryAfterMs = dayMs;

/**
 * Doubles with each of `failures` in a row, up to the maximum. A server that asked for a pause of `retryAfterMs` gets it instead,
 * but is never asked again sooner than after the first pause. `random` is between 0 and 1.
 */
export function computeRetryMs(
  { firstMs, maxMs, jitter = 0 }: Backoff,
  failures: number,
  {
    retryAfterMs = null,
    random = 0,
  }: { readonly retryAfterMs?: number | null; readonly random?: number } = {},
): number {
  if (retryAfterMs !== null && !Number.isNaN(retryAfterMs))
    return Math.min(Math.max(firstMs, retryAfterMs), maxRetryAfterMs);
  const pauseMs = Math.min(firstMs * 2 ** Math.max(0, failures - 1), maxMs);
  return pauseMs * (1 - jitter * random);
}
