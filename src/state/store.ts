/**
 * State: every session in memory, and how the state is saved in the snapshot and restored from it. Only `dispatch` changes a
 * session of this machine. One of another machine is replaced as a whole by what that machine says of it.
 */
import { limits } from "../core/limits.ts";
import type { AgentEvent, Moment } from "../core/session/event.ts";
import { elapsedMs, stateOf } from "../core/session/phase.ts";
import { isProbe } from "../core/session/probe.ts";
import {
  createWindow,
  type EventWindow,
  reduce,
  restoreWindow,
  type SavedEventWindow,
} from "../core/session/reduce.ts";
import { isWatched, projectOf, type Session } from "../core/session/session.ts";
import { parseSessionKey, type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import { settle } from "../core/session/settle.ts";
import { timing } from "../core/timing.ts";
import { isProjectName } from "../core/view/session-names.ts";

export type SessionListener = (after: Session, event: AgentEvent, before: Session | null) => void;

export interface Retention {
  readonly completedMs: number;
  readonly completedMax: number;
}

export interface Store {
  dispatch(event: AgentEvent): void;
  /** For a session of another machine. `event` says when it was described. */
  replace(session: Session, event: AgentEvent): void;
  /** For sessions of another machine, by their keys. Returns those that were known. */
  remove(keys: readonly string[]): readonly string[];
  subscribe(listener: SessionListener): void;
  get(ref: SessionRefLike): Session | null;
  /** Every session as it stands at `now`. */
  sessions(now: Moment): Session[];
  /** Those of other machines, as these have described them. */
  mirrored(): Session[];
  /** The session that `name` names, null if none or several do. See findMatches. */
  find(name: string, now: Moment): Session | null;
  /** All sessions that `name` could mean: an id, a prefix of one, `agent:id`, or a project. */
  findMatches(name: string, now: Moment): Session[];
  /** Drops sessions that ended long ago, and the oldest ones if there are too many. Returns their keys. */
  prune(now: Moment, retention: Retention): readonly string[];
  /** For the snapshot, of sessions that changed a moment ago: older events of theirs can still arrive. */
  eventWindows(now: Moment): SavedEventWindow[];
  restore(sessions: readonly Session[], eventWindows?: readonly SavedEventWindow[]): void;
}

function throwError(text: string): never {
  throw new Error(text);
}

export function createStore(onError: (text: string) => void = throwError): Store {
  const windows = new Map<string, EventWindow>();
  const listeners: SessionListener[] = [];

  function notify(
    listener: SessionListener,
    after: Session,
    event: AgentEvent,
    before: Session | null,
  ): void {
    try {
      listener(after, event, before);
    } catch (error) {
      onError(`${event.name} of ${event.sessionId} was applied, but a listener failed: ${error}`);
    }
  }

  function findByName(name: string, now: Moment): Session[] {
    const sessions = [...windows].map(([key, { session }]) => ({ key, session }));
    const lowered = name.toLowerCase();
    const exact = sessions.filter(({ key, session }) => session.sessionId === name || key === name);
    const inAnyCase = sessions.filter(({ key, session }) =>
      [session.sessionId.toLowerCase(), key.toLowerCase()].includes(lowered),
    );
    // Every key begins with its agent's name, so a prefix of a key counts only if it goes further.
    const isOfKey = parseSessionKey(name) !== null;
    const byPrefix = sessions.filter(
      ({ key, session }) =>
        session.sessionId.toLowerCase().startsWith(lowered) ||
        (isOfKey && key.toLowerCase().startsWith(lowered)),
    );
    const inProject = sessions.filter(({ session }) =>
      isProjectName(name, projectOf(session), session.machine),
    );
    const live = inProject.filter(({ session }) => !isOver(session, now));
    const byProject = live.length > 0 ? live : inProject;
    const byId = exact.length > 0 ? exact : inAnyCase;
    const matches = byId.length > 0 ? byId : new Set([...byPrefix, ...byProject]);
    return [...matches].map(({ session }) => settle(session, now.t));
  }

  return {
    dispatch(event) {
      const key = sessionKeyOf(event);
      const before = windows.get(key);
      const after = reduce(before, event);
      if (after === before) return;
      windows.set(key, after);
      // The session of a finished test of `beckon doctor` is not kept.
      if (after.session.ended && isProbe(after.session)) windows.delete(key);
      for (const listener of listeners) notify(listener, after.session, event, before?.session ?? null);
    },
    replace(session, event) {
      const key = sessionKeyOf(session);
      const before = windows.get(key)?.session ?? null;
      windows.set(key, createWindow(session));
      for (const listener of listeners) notify(listener, session, event, before);
    },
    remove: (keys) => keys.filter((key) => windows.delete(key)),
    subscribe: (listener) => void listeners.push(listener),
    get: (ref) => windows.get(sessionKeyOf(ref))?.session ?? null,
    sessions: (now) => [...windows.values()].map(({ session }) => settle(session, now.t)),
    mirrored() {
      const found: Session[] = [];
      for (const { session } of windows.values()) if (session.machine !== null) found.push(session);
      return found;
    },
    find(name, now) {
      const [only, ...others] = findByName(name, now);
      return only && others.length === 0 ? only : null;
    },
    findMatches: findByName,
    prune(now, retention) {
      const over = [...windows].filter(([, { session }]) => isOver(session, now));
      over.sort(([, a], [, b]) => b.session.last.at - a.session.last.at);
      const dropped: string[] = [];
      const drop = (key: string): void => {
        windows.delete(key);
        dropped.push(key);
      };
      over.forEach(([key, { session }], index) => {
        const isOld = elapsedMs(session.ended ?? session.last, now) > retention.completedMs;
        if (isOld || index >= retention.completedMax) drop(key);
      });
      // A map iterates in the order of insertion: the sessions known longest come first.
      for (const key of windows.keys()) {
        if (windows.size <= limits.maxSessions) break;
        drop(key);
      }
      return dropped;
    },
    eventWindows(now) {
      const changing = [...windows.values()].filter(
        ({ session }) => now.t - session.newest < timing.savedReorderMs,
      );
      changing.sort((a, b) => b.session.newest - a.session.newest);
      const saved: SavedEventWindow[] = [];
      let room = limits.maxSavedEvents;
      for (const { base, recent } of changing) {
        room -= recent.length;
        if (room < 0) break;
        saved.push({ base, recent });
      }
      return saved;
    },
    restore(sessions, eventWindows = []) {
      for (const window of [...sessions.map(createWindow), ...eventWindows.map(restoreWindow)]) {
        if (window) windows.set(sessionKeyOf(window.session), window);
      }
    },
  };
}

/** Ended; or silent for hours, if its process cannot be watched and its end could be missed. */
function isOver(session: Session, now: Moment): boolean {
  const state = stateOf(session, now);
  if (isWatched(session)) return state === "completed";
  return (
    state === "completed" || state === "stale" || elapsedMs(session.last, now) > timing.unwatchedMaxAgeMs
  );
}
