/** Every session, in memory. One way in: dispatch. */

import { limits } from "../core/limits.ts";
import { type AgentEvent, createSessionKey, type Moment } from "../core/session/event.ts";
import { elapsedMs, stateOf } from "../core/session/phase.ts";
import { isProbe } from "../core/session/probe.ts";
import {
  createWindow,
  type EventWindow,
  reduce,
  restoreWindow,
  type SavedEventWindow,
} from "../core/session/reduce.ts";
import { projectOf, type Session } from "../core/session/session.ts";
import { settle } from "../core/session/settle.ts";
import { timing } from "../core/timing.ts";

export type SessionListener = (after: Session, event: AgentEvent, before: Session | null) => void;

export interface Retention {
  readonly completedMs: number;
  readonly completedMax: number;
}

export interface Store {
  dispatch(event: AgentEvent): void;
  subscribe(listener: SessionListener): void;
  get(agent: string, sessionId: string): Session | null;
  /** Every session as it stands at `now`. */
  sessions(now: Moment): Session[];
  /** The session that `name` names, null if none or several do. See findMatches. */
  find(name: string, now: Moment): Session | null;
  /** All sessions that `name` could mean: an id, a prefix of one, `agent:id`, or a project. */
  findMatches(name: string, now: Moment): Session[];
  /** Lets go of sessions that are long over. */
  prune(now: Moment, retention: Retention): void;
  /** Of sessions that moved a moment ago: events older than their newest may still be under way. */
  eventWindows(now: Moment): SavedEventWindow[];
  restore(sessions: readonly Session[], tellings?: readonly SavedEventWindow[]): void;
}

function fail(text: string): never {
  throw new Error(text);
}

export function createStore(onError: (text: string) => void = fail): Store {
  const stories = new Map<string, EventWindow>();
  const listeners: SessionListener[] = [];

  function tell(listener: SessionListener, after: Session, event: AgentEvent, before: Session | null): void {
    try {
      listener(after, event, before);
    } catch (error) {
      onError(`${event.name} of ${event.sessionId} counted, but what follows from it failed: ${error}`);
    }
  }

  function findByName(name: string, now: Moment): Session[] {
    const sessions = [...stories].map(([key, { session }]) => ({ key, session }));
    const lowered = name.toLowerCase();
    const exact = sessions.filter(({ key, session }) => session.sessionId === name || key === name);
    const inAnyCase = sessions.filter(({ key, session }) =>
      [session.sessionId.toLowerCase(), key.toLowerCase()].includes(lowered),
    );
    // Every key begins with its agent's name, so a prefix of a key counts only with the colon.
    const byPrefix = sessions.filter(
      ({ key, session }) =>
        session.sessionId.toLowerCase().startsWith(lowered) ||
        (lowered.includes(":") && key.toLowerCase().startsWith(lowered)),
    );
    const inProject = sessions.filter(({ session }) => projectOf(session) === name);
    const live = inProject.filter(({ session }) => !isOver(session, now));
    const byProject = live.length > 0 ? live : inProject;
    const byId = exact.length > 0 ? exact : inAnyCase;
    const matches = byId.length > 0 ? byId : new Set([...byPrefix, ...byProject]);
    return [...matches].map(({ session }) => settle(session, now.t));
  }

  return {
    dispatch(event) {
      const key = createSessionKey(event.agent, event.sessionId);
      const before = stories.get(key);
      const after = reduce(before, event);
      if (after === before) return;
      stories.set(key, after);
      // A test that is over leaves nothing behind.
      if (after.session.ended && isProbe(after.session)) stories.delete(key);
      for (const listener of listeners) tell(listener, after.session, event, before?.session ?? null);
    },
    subscribe: (listener) => void listeners.push(listener),
    get: (agent, sessionId) => stories.get(createSessionKey(agent, sessionId))?.session ?? null,
    sessions: (now) => [...stories.values()].map((story) => settle(story.session, now.t)),
    find(name, now) {
      const [only, ...others] = findByName(name, now);
      return only && others.length === 0 ? only : null;
    },
    findMatches: findByName,
    prune(now, retention) {
      const over = [...stories].filter(([, { session }]) => isOver(session, now));
      over.sort(([, a], [, b]) => b.session.last.at - a.session.last.at);
      over.forEach(([key, { session }], index) => {
        const isOld = elapsedMs(session.ended ?? session.last, now) > retention.completedMs;
        if (isOld || index >= retention.completedMax) stories.delete(key);
      });
      // The first in the map are those known longest.
      for (const key of stories.keys()) {
        if (stories.size <= limits.maxSessions) break;
        stories.delete(key);
      }
    },
    eventWindows(now) {
      const moving = [...stories.values()].filter(
        ({ session }) => now.t - session.newest < timing.savedReorderMs,
      );
      moving.sort((a, b) => b.session.newest - a.session.newest);
      const tellings: SavedEventWindow[] = [];
      let room = limits.maxSavedEvents;
      for (const { base, recent } of moving) {
        room -= recent.length;
        if (room < 0) break;
        tellings.push({ base, recent });
      }
      return tellings;
    },
    restore(sessions, tellings = []) {
      for (const story of [...sessions.map(createWindow), ...tellings.map(restoreWindow)]) {
        if (story) stories.set(createSessionKey(story.session.agent, story.session.sessionId), story);
      }
    },
  };
}

/** Ended, or silent for hours in a place where nobody could see its end. */
function isOver(session: Session, now: Moment): boolean {
  const isSeen = session.place?.local === true && session.place.pid !== null;
  const state = stateOf(session, now);
  if (isSeen) return state === "completed";
  return (
    state === "completed" || state === "stale" || elapsedMs(session.last, now) > timing.unwatchedMaxAgeMs
  );
}
