/** How many messages a second are taken of another machine. More are dropped. */
export interface RateLimit {
  /** Whether the next message is taken. */
  take(): boolean;
  /** Whether some were dropped in the second before this one. True once. */
  hasGap(): boolean;
}

/** `onExceeded` is called once for each second in which messages are dropped. */
export function createRateLimit(maxPerSecond: number, onExceeded: () => void): RateLimit {
  let second = 0;
  let count = 0;
  let isGap = false;
  return {
    take() {
      const now = Math.floor(performance.now() / 1_000);
      if (now !== second) {
        isGap ||= count > maxPerSecond;
        second = now;
        count = 0;
      }
      count++;
      if (count === maxPerSecond + 1) onExceeded();
      return count <= maxPerSecond;
    },
    hasGap() {
      const was = isGap;
      isGap = false;
      return was;
    },
  };
}
