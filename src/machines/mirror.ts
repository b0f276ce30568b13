/** The sessions of one other machine, as it describes them. They are in the store beside this machine's own. */
import { inTerminal, nameEnding } from "../core/answers/words.ts";
import { readErrorMessage } from "../core/error-message.ts";
import { forgetOldest } from "../core/forget-oldest.ts";
import type { AskEnd } from "../core/interfaces/index.ts";
import type { PastAsk, PastSession } from "../core/interfaces/wire.ts";
import {
  type AgentEvent,
  type ClockReading,
  createInternalEvent,
  type Moment,
} from "../core/session/event.ts";
import { createAskAlertKey } from "../core/session/keys.ts";
import type { Ask, Session } from "../core/session/session.ts";
import { type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import { truncateEnd } from "../core/text/text.ts";
import { hourMs } from "../core/timing.ts";
import {
  type ClockShift,
  findClockShift,
  type MirroredAsk,
  readDescribedSession,
} from "./mirrored-session.ts";
import { readEnding, readPastSession } from "./past-session.ts";
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

/** A machine that never says how its asks ended must not fill the memory. */
const maxClosedAsks = 1_000;
/** What happened in a month is in some. In an hour. */
const maxMissedMessages = 100;
const maxWhereWidth = 100;
/** Of all sessions of a machine together, in characters. A session has some thousand, and a long diff some hundred thousand. */
const maxTotalSize = 32 * 1024 * 1024;

export function createMirror(options: MirrorOptions): Mirror {
  const { machine, clock } = options;
  /** null before the first link. */
  let shift: ClockShift | null = null;
  /** By the key of the session, then by the ask's request. */
  const answerable = new Map<string, ReadonlyMap<string, MirroredAsk>>();
  /** Asks that their session was described without, until it is known how they ended. */
  const closed = new Map<string, { readonly session: Session; readonly ask: Ask }>();
  /** How asks ended while the machine was not linked, by their requests. */
  const missedEnds = new Map<string, PastAsk>();
  /** What was named since the first part of the list of sessions; null if none has come, or all of them. */
  let listed: Set<string> | null = null;
  let isListed = false;
  let missedMessages = 0;
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
    for (const ask of before?.asks ?? [])
      if (!session.asks.some(({ id }) => id === ask.id)) close(session, ask);
    answerable.set(key, mirrored.answerable);
    options.replace(session, createEvent(session));
    listed?.add(key);
    for (const ask of before?.asks ?? []) endMissed(session, ask);
  }

  /** The ask closed while the machine was not linked. */
  function endMissed(session: Session, { id, request }: Ask): void {
    const ended = missedEnds.get(request ?? "");
    const { agent, sessionId } = session;
    if (!ended || !closed.has(createAskAlertKey(session, id))) return;
    endAsk({ agent, sessionId, ask: id, how: ended.how ?? "dismissed", where: ended.place });
  }

  function close(session: Session, ask: Ask): void {
    closed.set(createAskAlertKey(session, ask.id), { session, ask });
    forgetOldest(closed, maxClosedAsks);
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
      missedMessages = 0;
    }
    if (shift === null || ++missedMessages > maxMissedMessages) return;
    for (const described of sessions) {
      const past = readPastSession(described, machine, shift.at, clock().at);
      if (!past) continue;
      options.onPast(past);
      for (const ask of past.asks)
        if (ask.request !== null && ask.closedAt !== null) missedEnds.set(ask.request, ask);
    }
    forgetOldest(missedEnds, maxClosedAsks);
    for (const { session, ask } of [...closed.values()]) endMissed(session, ask);
    // Something may have changed since the machine read its history.
    if (isListed) options.onListed();
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

  function endAsk(message: Omit<Extract<SessionMessage, { kind: "ask-ended" }>, "kind" | "seq">): void {
    const { agent, sessionId, where } = message;
    const key = createAskAlertKey({ machine, agent, sessionId }, message.ask);
    const found = closed.get(key);
    closed.delete(key);
    if (!found) return;
    const how = readEnding(message.how);
    const { ask } = found;
    const outcome = nameEnding(how, ask.kind);
    options.onAskEnded({
      ...found,
      how,
      outcome,
      by: where === "terminal" ? inTerminal : where && truncateEnd(where, maxWhereWidth),
      at: clock().at,
    });
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
          return endAsk(message);
      }
    },
    lose() {
      answerable.clear();
      closed.clear();
      missedEnds.clear();
      listed = null;
      isListed = false;
      missedMessages = 0;
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
