/** Taps and replies that a client is handling: each makes requests to the service. */

export interface ResponseQueue {
  /** `work` never rejects. It is not started if too much is being handled already. */
  start(work: () => Promise<void>): void;
  /** Resolves when everything that was started is done. */
  finish(): Promise<void>;
}

/**
 * No user taps this often. A service that sends more, and then does not answer, would otherwise use up the connections that all
 * channels share: Bun opens 256 at a time.
 */
const maxHandled = 20;

export function createResponseQueue(): ResponseQueue {
  const running = new Set<Promise<void>>();
  return {
    start(work) {
      if (running.size >= maxHandled) return;
      const done = work().finally(() => running.delete(done));
      running.add(done);
    },
    async finish() {
      await Promise.all(running);
    },
  };
}
