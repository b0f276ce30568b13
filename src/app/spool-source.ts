/** The spool as a source: events that hooks wrote to disk while beckon was down or slow. */
import { limits } from "../core/limits.ts";
import type { Source } from "../core/ports.ts";
import type { Ingest } from "../ingest/index.ts";
import { openSpool, type SpoolPosition } from "../storage/spool.ts";

export interface SpoolSource extends Source {
  position(): SpoolPosition | null;
  takenAtStart(): number;
}

export function createSpoolSource(options: {
  readonly path: string;
  readonly position: SpoolPosition | null;
  readonly ingest: Ingest;
  readonly onError: (text: string) => void;
}): SpoolSource {
  const { ingest, onError } = options;
  let takenAtStart = 0;
  const spool = openSpool(options.path, {
    position: options.position,
    maxLineBytes: limits.maxBodyBytes * 2,
    async accept(text, next) {
      const result = await ingest.accept(text, next);
      if (result.outcome === "accepted") return "accepted";
      if (result.outcome === "not-stored") return "retry";
      onError(`a spooled event was rejected: ${result.reason}`);
      return "rejected";
    },
    onError,
  });
  return {
    name: "spool",
    async start() {
      takenAtStart = await spool.poll();
    },
    position: spool.position,
    takenAtStart: () => takenAtStart,
    async stop() {
      // An event older than the last snapshot could not be put in its place after the next start.
      await spool.poll();
      await spool.stop();
    },
  };
}
