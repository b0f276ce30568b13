/**
 * Ids that grow, over restarts too: they are times in microseconds. One names a point of a stream, for a reader that was away and
 * wants what came after it. `before` is the last one of an earlier run, in case the clock was set back since.
 */
export function createGrowingIds(now: () => number, before = 0): () => number {
  let last = before;
  return () => {
    last = Math.max(last + 1, firstGrowingIdAt(now()));
    return last;
  };
}

/** The time at which the id was made, in milliseconds. */
export const atOfGrowingId = (id: number): number => Math.floor(id / 1_000);

/** The smallest id that is made at this time. */
export const firstGrowingIdAt = (at: number): number => Math.floor(at * 1_000);
