/** The sessions as a request sees them: with what can be answered, what is silent and why, and what is wrong. */
import type { Here } from "./agents/envelope.ts";
import type { Config } from "./core/config.ts";
import { quietAt } from "./core/quiet.ts";
import { silenceAt } from "./core/select.ts";
import type { Desk } from "./desk.ts";
import { localClock, minuteOfDay } from "./desktop/local-time.ts";
import type { Held } from "./held.ts";
import type { Sessions } from "./receiver/server.ts";
import type { Store } from "./store.ts";

export interface ListingOptions {
  readonly store: Store;
  readonly held: Held;
  readonly desk: Pick<Desk, "wishes">;
  readonly clock: () => Here;
  readonly config: () => Config;
  readonly problems: () => readonly string[];
  readonly isConnected: () => boolean;
}

export function createListing(options: ListingOptions): Sessions {
  const { store, held, desk, clock, config } = options;
  return {
    all() {
      const now = clock();
      const silence = silenceAt({ wishes: desk.wishes(), config: config(), now, clock: localClock });
      const snapshots = store.snapshots(now, (session) => {
        const why = silence(session);
        return why === null ? {} : { silence: why };
      });
      return snapshots.map((snapshot) => held.mark(snapshot));
    },
    find(name) {
      const found = store.find(name, clock());
      return found && held.mark(found, true);
    },
    more() {
      const { at } = clock();
      const now = { at, minuteOfDay: minuteOfDay(at) };
      const quiet = quietAt(desk.wishes().quietUntil, config().quietHours, now);
      const unconnected = "Claude Code's hooks are not registered. Run: beckon --install";
      const problems = [...(options.isConnected() ? [] : [unconnected]), ...options.problems()];
      return { ...(quiet ? { quiet } : {}), ...(problems.length > 0 ? { problems } : {}) };
    },
  };
}
