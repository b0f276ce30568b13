import { join } from "node:path";
import { openSpool, type SpoolOptions } from "../../src/storage/spool.ts";
import type { SpoolPosition } from "../../src/storage/spool-position.ts";
import { createVirtualTime } from "../virtual-time.ts";
import { temporaryFolder } from "./folder.ts";

export const event = (id: string | number): string => JSON.stringify({ provider: "claude", payload: { id } });

export const lines = (...ids: (string | number)[]): string => ids.map((id) => `${event(id)}\n`).join("");

/** Without a change for this long, a file has no writer any more. */
export const quietMs = 5_000;

/** Plays the app and its journal: the accepted events and the position outlive each spool that is opened here. */
export function createSpoolFixture(path = join(temporaryFolder(), "spool.jsonl")) {
  const time = createVirtualTime();
  const accepted: string[] = [];
  const errors: string[] = [];
  const fixture = {
    path,
    /** Where the spool is renamed to before it is removed. */
    rotated: `${path}.taking`,
    accepted,
    errors,
    position: null as SpoolPosition | null,
    advance: time.advance,
    ids: () => accepted.map((text) => (JSON.parse(text) as { payload: { id: string | number } }).payload.id),
    accept: async (text: string, next: SpoolPosition) => {
      accepted.push(text);
      fixture.position = next;
      return "accepted" as const;
    },
    /** Reads only when a test polls or advances the time. */
    open: (options: Partial<SpoolOptions> = {}) =>
      openSpool(path, {
        position: fixture.position,
        maxLineBytes: 10_000,
        quietMs,
        pollMs: 100 * quietMs,
        onError: (text) => errors.push(text),
        accept: fixture.accept,
        now: () => time.clock().t,
        schedule: time.schedule,
        ...options,
      }),
  };
  return fixture;
}
