import type { PendingRequests } from "../answers/pending.ts";
import type { SessionList } from "../api/server.ts";
import type { Config } from "../core/config/config.ts";
import { quietAt } from "../core/config/quiet.ts";
import type { ClockReading } from "../core/session/event.ts";
import { silenceAt } from "../core/view/select.ts";
import type { Store } from "../state/store.ts";
import { formatLocalTime, minuteOfDay } from "../system/clock.ts";
import type { Presenter } from "./presenter.ts";

export interface SessionListOptions {
  readonly store: Store;
  readonly held: PendingRequests;
  readonly desk: Pick<Presenter, "preferences">;
  readonly clock: () => ClockReading;
  readonly config: () => Config;
  readonly problems: () => readonly string[];
  readonly isConnected: () => boolean;
}

export function createSessionList(options: SessionListOptions): SessionList {
  const { store, held, desk, clock, config } = options;
  return {
    all() {
      const now = clock();
      const silence = silenceAt({
        wishes: desk.preferences(),
        config: config(),
        now,
        clock: formatLocalTime,
      });
      const snapshots = store.snapshots(now, (session) => {
        const why = silence(session);
        return why === null ? {} : { silence: why };
      });
      return snapshots.map((snapshot) => held.addAnswerInfo(snapshot));
    },
    find(name) {
      const found = store.find(name, clock());
      return found && held.addAnswerInfo(found, true);
    },
    findMatches: (name) => store.findMatches(name, clock()),
    more() {
      const { at } = clock();
      const now = { at, minuteOfDay: minuteOfDay(at) };
      const quiet = quietAt(desk.preferences().quietUntil, config().quietHours, now);
      const unconnected = "Claude Code's hooks are not registered. Run: beckon --install";
      const problems = [...(options.isConnected() ? [] : [unconnected]), ...options.problems()];
      return { ...(quiet ? { quiet } : {}), ...(problems.length > 0 ? { problems } : {}) };
    },
  };
}
