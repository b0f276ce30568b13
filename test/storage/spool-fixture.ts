import { join } from "node:path";
import { openSpool, type SpoolOptions, type SpoolPosition } from "../../src/storage/spool.ts";
import { temporaryFolder } from "./folder.ts";

export const event = (id: string | number): string => JSON.stringify({ provider: "claude", payload: { id } });

/** Stands for the app and its journal: what is taken here, with its position, outlives the consumer. */
export function spoolWorld(path = join(temporaryFolder(), "spool.jsonl")) {
  const taken: string[] = [];
  const errors: string[] = [];
  const world = {
    path,
    putAway: `${path}.taking`,
    taken,
    errors,
    position: null as SpoolPosition | null,
    ids: () => taken.map((text) => (JSON.parse(text) as { payload: { id: string | number } }).payload.id),
    /** pollMs is long: tests poll by hand. */
    open(more: Partial<SpoolOptions> = {}) {
      return openSpool(path, {
        position: world.position,
        maxLineBytes: 10_000,
        pollMs: 60_000,
        quietMs: 50,
        onError: (text) => errors.push(text),
        accept: async (text, next) => {
          taken.push(text);
          world.position = next;
          return "accepted";
        },
        ...more,
      });
    },
  };
  return world;
}
