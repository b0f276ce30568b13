/** The sessions of one other machine, as it describes them. They are in the store beside this machine's own. */
import { askEndings } from "../core/answers/ending.ts";
import { inTerminal, nameEnding } from "../core/answers/words.ts";
import { readErrorMessage } from "../core/error-message.ts";
import { forgetOldest } from "../core/forget-oldest.ts";
import type { AskEnd } from "../core/interfaces/index.ts";
import { type AgentEvent, type ClockReading, createInternalEvent } from "../core/session/event.ts";
import { createAskAlertKey } from "../core/session/keys.ts";
import type { Ask, Session } from "../core/session/session.ts";
import { type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import {
  type ClockShift,
  findClockShift,
  type MirroredAsk,
  readDescribedSession,
} from "./mirrored-session.ts";
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
  readonly onProblem: (text: string) => void;
}

type SessionMessage = Extract<OwnerMessage, { kind: "sessions" | "session" | "gone" | "ask-ended" }>;

export interface Mirror {
  /** The link is open: what comes is on this clock. */
  start(theirs: { readonly at: number; readonly t: number }): void;
  take(message: SessionMessage): void;
  /** The link is lost: its sessions are shown as last known. */
  lose(): void;
  /** null if the ask is not one of this machine, or cannot be answered from here. */
  find(ask: Pick<Ask, "request">): MirroredAsk | null;
}

/** A machine that never says how its asks ended must not fill the memory. */
const maxClosedAsks = 1_000;

export function createMirror(options: MirrorOptions): Mirror {
  const { machine, clock } = options;
  /** null before the first link. */
  let shift: ClockShift | null = null;
  /** By the key of the session, then by the ask's request. */
  const answerable = new Map<string, ReadonlyMap<string, MirroredAsk>>();
  /** Asks that their session was described without, until it is known how they ended. */
  const closed = new Map<string, { readonly session: Session; readonly ask: Ask }>();
  let count = 0;

  function put(described: DescribedSession): string | null {
    let mirrored: ReturnType<typeof readDescribedSession> = null;
    try {
      mirrored = shift && readDescribedSession(described, machine, shift);
    } catch (error) {
      options.onProblem(`a session of ${machine} could not be read: ${readErrorMessage(error)}`);
    }
    if (!mirrored) return null;
    const { session } = mirrored;
    const key = sessionKeyOf(session);
    const before = options.get(session);
    if (!before && answerable.size >= maxMirroredSessions) return null;
    for (const ask of before?.asks ?? [])
      if (!session.asks.some(({ id }) => id === ask.id)) close(session, ask);
    answerable.set(key, mirrored.answerable);
    options.replace(session, createEvent(session));
    return key;
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
    for (const key of keys) answerable.delete(key);
    options.remove(keys);
  }

  function endAsk(message: Extract<OwnerMessage, { kind: "ask-ended" }>): void {
    const { agent, sessionId, where } = message;
    const key = createAskAlertKey({ machine, agent, sessionId }, message.ask);
    const found = closed.get(key);
    closed.delete(key);
    if (!found) return;
    // A newer beckon may know more endings.
    const how = askEndings.find((known) => known === message.how) ?? "dismissed";
    const { ask } = found;
    const outcome = nameEnding(how, ask.kind);
    options.onAskEnded({
      ...found,
      how,
      outcome,
      by: where === "terminal" ? inTerminal : where,
      at: clock().at,
    });
  }

  return {
    start(theirs) {
      shift = findClockShift(theirs, clock(), shift);
    },
    take(message) {
      switch (message.kind) {
        case "sessions": {
          const named = new Set(message.sessions.map(put));
          const known = options.sessions().map(sessionKeyOf);
          return remove(known.filter((key) => !named.has(key)));
        }
        case "session":
          return void put(message.described);
        case "gone":
          return remove([sessionKeyOf({ machine, agent: message.agent, sessionId: message.sessionId })]);
        case "ask-ended":
          return endAsk(message);
      }
    },
    lose() {
      answerable.clear();
      closed.clear();
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
