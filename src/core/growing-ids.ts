/**
 * Ids that grow, over restarts too: they are times in microseconds. One names a point of a stream, for a reader that was away and
 * wants what came after it.
 */
export function createGrowingIds(now: () => number): () => number {
  let last = 0;
  return () => {
    last = Math.max(last + 1, Math.floor(now() * 1_000));
    return last;
  };
}

/** The time at which the id was made, in milliseconds. */
export const atOfGrowingId = (id: number): number => Math.floor(id / 1_000);
