/** Every session, in memory. One way in: dispatch. */
import { type AgentEvent, type Moment, sessionKey } from "./core/event.ts";
import { elapsedMs, stateOf } from "./core/phase.ts";
import { reduce, resume, type Story, trim } from "./core/reduce.ts";
import type { Session } from "./core/session.ts";
import { settle } from "./core/settle.ts";
import { type SessionSnapshot, snapshotOf } from "./core/snapshot.ts";

export type Listener = (after: Session, event: AgentEvent, before: Session | null) => void;

export interface Retention {
  readonly completedMs: number;
  readonly completedMax: number;
}

export interface Store {
  dispatch(event: AgentEvent, arrived: number): void;
  subscribe(listener: Listener): void;
  get(agent: string, sessionId: string): Session | null;
  /** Every session as it stands at `now`. */
  sessions(now: Moment): Session[];
  snapshots(now: Moment): SessionSnapshot[];
  find(name: string, now: Moment): SessionSnapshot | null;
  /** Lets go of sessions that ended long ago. */
  prune(now: Moment, retention: Retention): void;
  restore(sessions: readonly Session[]): void;
}

export function createStore(): Store {
  const stories = new Map<string, Story>();
  const listeners: Listener[] = [];
  const snapshots = (now: Moment) => [...stories.values()].map((story) => snapshotOf(story.session, now));

  return {
    dispatch(event, arrived) {
      const key = sessionKey(event.agent, event.sessionId);
      const before = stories.get(key);
      const after = reduce(before, event, arrived);
      if (after === before) return;
      stories.set(key, after);
      for (const listener of listeners) listener(after.session, event, before?.session ?? null);
    },
    subscribe: (listener) => void listeners.push(listener),
    get: (agent, sessionId) => stories.get(sessionKey(agent, sessionId))?.session ?? null,
    sessions: (now) => [...stories.values()].map((story) => settle(story.session, now.t)),
    snapshots,
    find(name, now) {
      const exact = stories.get(name);
      if (exact) return snapshotOf(exact.session, now);
      const matches = snapshots(now).filter(
        (s) => s.sessionId.startsWith(name) || sessionKey(s.provider, s.sessionId).startsWith(name),
      );
      const one =
        matches.find((s) => s.sessionId === name) ?? (matches.length === 1 ? matches[0] : undefined);
      return one ?? null;
    },
    prune(now, retention) {
      for (const [key, story] of stories) stories.set(key, trim(story, now.t));
      const done = [...stories].filter(
        ([, { session }]) => stateOf(session, now) === "completed" || stateOf(session, now) === "stale",
      );
      done.sort(([, a], [, b]) => b.session.last.at - a.session.last.at);
      done.forEach(([key, { session }], index) => {
        if (
          index >= retention.completedMax ||
          elapsedMs(session.ended ?? session.last, now) > retention.completedMs
        ) {
          stories.delete(key);
        }
      });
    },
    restore(sessions) {
      for (const session of sessions)
        stories.set(sessionKey(session.agent, session.sessionId), resume(session));
    },
  };
}
