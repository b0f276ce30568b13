/** The sessions of one other machine, as it describes them. They are in the store beside this machine's own. */
import { readErrorMessage } from "../core/error-message.ts";
import type { AskEnd } from "../core/interfaces/index.ts";
import type { PastSession } from "../core/interfaces/wire.ts";
import {
  type AgentEvent,
  type ClockReading,
  createInternalEvent,
  type Moment,
} from "../core/session/event.ts";
import type { Ask, Session } from "../core/session/session.ts";
import { type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import { hourMs } from "../core/timing.ts";
import { createMirroredEnds } from "./mirrored-ends.ts";
import {
  type ClockShift,
  findClockShift,
  type MirroredAsk,
  readDescribedSession,
} from "./mirrored-session.ts";
import { readPastSession } from "./past-session.ts";
import { type DescribedSession, maxMirroredSessions, type OwnerMessage } from "./protocol.ts";

export interface MirrorOptions {
  /** The user's name for the machine. */
  readonly machine: string;
  readonly clock: () => ClockReading;
  /** All sessions that the list has of the machine. */
  readonly sessions: () => readonly Session[];
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly replace: (session: Session, event: AgentEvent) => void;
  readonly remove: (keys: readonly string[]) => void;
  readonly onAskEnded: (end: AskEnd) => void;
  /** What a session did while the machine was not linked. */
  readonly onPast: (session: PastSession) => void;
  /** All of its sessions are known. */
  readonly onListed: () => void;
  /** They are still known after something was added to its past. */
  readonly onPastListed: () => void;
  readonly onProblem: (text: string) => void;
}

export type SessionMessage = Extract<
  OwnerMessage,
  { kind: "missed" | "sessions" | "session" | "gone" | "ask-ended" }
>;

export interface Mirror {
  /** The link is open: what comes is on this clock. Returns what is added to its wall time; `known` is that of an earlier link. */
  start(theirs: Moment, known: Pick<ClockShift, "at"> | null): number;
  take(message: SessionMessage): void;
  /** The link is lost: its sessions are shown as last known. */
  lose(): void;
  /** null if the ask is not one of this machine, or cannot be answered from here. */
  find(ask: Pick<Ask, "request">): MirroredAsk | null;
}

/** Sessions with what they did while they were not followed. In an hour. */
const maxMissedSessions = 50_000;
/** Of all sessions of a machine together, in characters. A session has some thousand, and a long diff some hundred thousand. */
const maxTotalSize = 32 * 1024 * 1024;

export function createMirror(options: MirrorOptions): Mirror {
  const { machine, clock } = options;
  /** null before the first link. */
  let shift: ClockShift | null = null;
  /** By the key of the session, then by the ask's request. */
  const answerable = new Map<string, ReadonlyMap<string, MirroredAsk>>();
  const ends = createMirroredEnds({ machine, now: () => clock().at, onAskEnded: options.onAskEnded });
  /** What was named since the first part of the list of sessions; null if none has come, or all of them. */
  let listed: Set<string> | null = null;
  let isListed = false;
  let missedSessions = 0;
  let missedSinceT = Number.NEGATIVE_INFINITY;
  /** By the key of the session. */
  const sizes = new Map<string, number>();
  let totalSize = 0;
  /** More was described, and the log says so. */
  let isFull = false;
  let count = 0;

  function setSize(key: string, size: number): void {
    totalSize += size - (sizes.get(key) ?? 0);
    if (size === 0) sizes.delete(key);
    else sizes.set(key, size);
  }

  function put(described: DescribedSession): void {
    let mirrored: ReturnType<typeof readDescribedSession> = null;
    try {
      mirrored = shift && readDescribedSession(described, machine, shift, clock());
    } catch (error) {
      options.onProblem(`a session of ${machine} could not be read: ${readErrorMessage(error)}`);
    }
    if (!mirrored) return;
    const { session } = mirrored;
    const key = sessionKeyOf(session);
    const before = options.get(session);
    const size = totalSize - (sizes.get(key) ?? 0) + mirrored.size;
    if (!before && sizes.size >= maxMirroredSessions) return;
    if (size > maxTotalSize) {
      if (!isFull)
        options.onProblem(
          `${machine} has described more than beckon keeps of a machine: the rest is not shown`,
        );
      isFull = true;
      if (before) listed?.add(key);
      return;
    }
    setSize(key, mirrored.size);
    answerable.set(key, mirrored.answerable);
    options.replace(session, createEvent(session));
    listed?.add(key);
    for (const ask of before?.asks ?? [])
      if (!session.asks.some(({ id }) => id === ask.id)) ends.close(session, ask);
  }

  function createEvent({ agent, sessionId }: Session): AgentEvent {
    const about = { machine, agent, sessionId };
    return createInternalEvent(`${machine}#${++count}`, clock(), about, { kind: "mirrored" });
  }

  function remove(keys: readonly string[]): void {
    for (const key of keys) {
      answerable.delete(key);
      setSize(key, 0);
    }
    options.remove(keys);
  }

  function takeMissed({ sessions }: Extract<SessionMessage, { kind: "missed" }>): void {
    const { t } = clock();
    if (t - missedSinceT > hourMs) {
      missedSinceT = t;
      missedSessions = 0;
    }
    const isFirst = missedSessions <= maxMissedSessions;
    missedSessions += sessions.length;
    if (missedSessions > maxMissedSessions) {
      if (isFirst)
        options.onProblem(`${machine} says more of its past than beckon keeps: the rest is dropped`);
      return;
    }
    if (shift === null) return;
    const { at } = shift;
    const past = sessions.flatMap((described) => readPastSession(described, machine, at, clock().at) ?? []);
    for (const session of past) options.onPast(session);
    ends.takeMissed(past.flatMap(({ asks }) => asks));
    // Something may have changed since the machine read its history.
    if (isListed) options.onPastListed();
  }

  function takeList({ sessions, isPart }: Extract<SessionMessage, { kind: "sessions" }>): void {
    listed ??= new Set();
    for (const described of sessions) put(described);
    if (isPart) return;
    const named = listed;
    listed = null;
    isListed = true;
    const known = options.sessions().map(sessionKeyOf);
    remove(known.filter((key) => !named.has(key)));
    options.onListed();
  }

  return {
    start(theirs, known) {
      shift = findClockShift(theirs, clock(), shift ?? known);
      isFull = false;
      return shift.at;
    },
    take(message) {
      switch (message.kind) {
        case "missed":
          return takeMissed(message);
        case "sessions":
          return takeList(message);
        case "session":
          return put(message.described);
        case "gone":
          return remove([sessionKeyOf({ machine, agent: message.agent, sessionId: message.sessionId })]);
        case "ask-ended":
          return ends.take(message);
      }
    },
    lose() {
      answerable.clear();
      ends.clear();
      listed = null;
      isListed = false;
      const { at } = clock();
      for (const session of options.sessions()) {
        if (session.unreachableSince !== null || session.ended) continue;
        const lost = { ...session, unreachableSince: at };
        options.replace(lost, createEvent(lost));
      }
    },
    find({ request }) {
      if (request === null) return null;
      for (const asks of answerable.values()) {
        const found = asks.get(request);
        if (found) return found;
      }
      return null;
    },
  };
}
