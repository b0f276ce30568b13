import type { PendingRequests } from "../answers/pending.ts";
import type { SessionList } from "../api/server.ts";
import type { Config } from "../core/config/config.ts";
import { findQuietMode } from "../core/config/quiet.ts";
import type { ClockReading } from "../core/session/event.ts";
import { createSnapshot, type SnapshotContext } from "../core/view/snapshot.ts";
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
  const context = (): SnapshotContext => ({
    preferences: desk.preferences(),
    config: config(),
    formatTime: formatLocalTime,
  });
  return {
    all() {
      const now = clock();
      const given = context();
      return store.sessions(now).map((session) => held.addAnswerInfo(createSnapshot(session, now, given)));
    },
    find(name) {
      const now = clock();
      const session = store.find(name, now);
      return session && held.addAnswerInfo(createSnapshot(session, now, context()), true);
    },
    findMatches(name) {
      const now = clock();
      const given = context();
      return store.findMatches(name, now).map((session) => createSnapshot(session, now, given));
    },
    more() {
      const { at } = clock();
      const now = { at, minuteOfDay: minuteOfDay(at) };
      const quiet = findQuietMode(desk.preferences().quietUntil, config().quietHours, now);
      const unconnected = "Claude Code's hooks are not registered. Run: beckon --install";
      const problems = [...(options.isConnected() ? [] : [unconnected]), ...options.problems()];
      return { ...(quiet ? { quiet } : {}), ...(problems.length > 0 ? { problems } : {}) };
    },
  };
}
