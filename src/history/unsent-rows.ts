/** What the history's thread has not been sent yet: rows, sessions that have changed, and machines whose sessions are all known. */
import { isProbe } from "../core/session/probe.ts";
import { isBlocking, isVisible, type Session } from "../core/session/session.ts";
import { parseSessionKey, sessionKeyOf } from "../core/session/session-ref.ts";
import { createAskId, spanStateOf } from "../state/transitions.ts";
import {
  type AskRow,
  createSessionRow,
  isSameSession,
  type OpenState,
  type SessionRow,
  type StateRow,
} from "./rows.ts";

export interface UnsentRows {
  add(row: StateRow): void;
  /** A session that changes again before it is sent is sent once. */
  addSession(session: Session): void;
  /** All sessions of another machine are known now. */
  addListed(machine: string): void;
  count(): number;
  isEmpty(): boolean;
  /** Something of other machines is in it. */
  hasOfOthers(): boolean;
  /** Empties it. */
  take(): readonly StateRow[];
  /** Rows that could not be recorded, null if they are lost: what only they say is sent again, in the order in which it is put back. */
  putBack(rows: readonly StateRow[] | null): void;
  /** Rows of other machines were dropped: nothing here can say again what they said. */
  hasLost(): boolean;
  /** What a thread that has just started has to know before the rows that follow. All sessions are sent again. */
  describeState(): OpenState;
  clear(): void;
}

/** More rows than this wait for a thread that does not take them: they are dropped, and it catches up later. */
const maxWaitingRows = 100_000;
/** Of more sessions than this, it is not remembered what was sent. */
const maxSentSessions = 5_000;

/** What a thread that has just started cannot learn from the state. */
const notInState: ReadonlySet<StateRow["kind"]> = new Set([
  "ask-closed",
  "ask-ended",
  "session-event",
  "past",
  "change",
]);

/** The journal, from which a thread learns what it has missed, has only the events of this machine. */
const isOfOtherMachine = (row: StateRow): boolean =>
  "session" in row && (parseSessionKey(row.session.key)?.machine ?? null) !== null;

const isOnlyHere = (row: StateRow): boolean => notInState.has(row.kind) || isOfOtherMachine(row);

export function createUnsentRows(listSessions: () => readonly Session[]): UnsentRows {
  let rows: StateRow[] = [];
  /** Older than all of those. */
  let returned: StateRow[] = [];
  let hasLost = false;
  const changed = new Map<string, Session>();
  const listed = new Set<string>();
  /** What the thread was last sent of each session. Nearly all changes are events, which it reads from the journal. */
  const sent = new Map<string, SessionRow>();

  function clear(): void {
    rows = [];
    returned = [];
    changed.clear();
    listed.clear();
  }

  function addSessionRow(key: string, session: SessionRow): void {
    const before = sent.get(key);
    if (before && isSameSession(before, session)) return;
    if (sent.size >= maxSentSessions) sent.clear();
    sent.set(key, session);
    rows.push({ kind: "session", session });
  }

  return {
    add(row) {
      if (rows.length < maxWaitingRows) rows.push(row);
      else hasLost ||= isOfOtherMachine(row);
    },
    addSession: (session) => changed.set(sessionKeyOf(session), session),
    addListed: (machine) => listed.add(machine),
    count: () => rows.length,
    isEmpty: () => rows.length === 0 && returned.length === 0 && changed.size === 0 && listed.size === 0,
    hasOfOthers: () => [...returned, ...rows].some(isOfOtherMachine),
    take() {
      for (const [key, session] of changed) addSessionRow(key, createSessionRow(session));
      for (const machine of listed) {
        const sessions = listSessions().filter((session) => session.machine === machine);
        rows.push({ kind: "listed", machine, open: describeOpen(sessions, []) });
      }
      const taken = returned.length > 0 ? [...returned, ...rows] : rows;
      clear();
      return taken;
    },
    putBack(unrecorded) {
      hasLost ||= unrecorded === null;
      for (const row of unrecorded ?? []) {
        if (row.kind === "listed") listed.add(row.machine);
        else if (!isOnlyHere(row)) continue;
        else if (returned.length < maxWaitingRows) returned.push(row);
        else hasLost ||= isOfOtherMachine(row);
      }
    },
    hasLost: () => hasLost,
    describeState() {
      sent.clear();
      for (const session of listSessions()) {
        if (!isProbe(session)) changed.set(sessionKeyOf(session), session);
      }
      rows = rows.filter(isOnlyHere);
      return describeOpen(listSessions(), [...returned, ...rows]);
    },
    clear,
  };
}

/** `rows` are written after it. */
function describeOpen(sessions: readonly Session[], rows: readonly StateRow[]): OpenState {
  const live = sessions.filter((session) => !session.ended && !isProbe(session));
  return {
    closing: rows.flatMap((row) => (row.kind === "ask-closed" ? [row.id] : [])),
    asks: live.flatMap((session) =>
      session.asks
        .filter((ask) => isBlocking(ask) && isVisible(ask))
        .map(
          (ask): AskRow => ({
            kind: "ask-opened",
            id: createAskId(session, ask),
            session: createSessionRow(session),
            ask,
          }),
        ),
    ),
    spans: live.flatMap((session) => {
      const state = spanStateOf(session);
      const waiting = session.asks.find((ask) => isBlocking(ask) && isVisible(ask));
      const since = state === "waiting" && waiting ? waiting.at : session.turn.at;
      return state === null ? [] : [{ key: sessionKeyOf(session), state, since }];
    }),
  };
}
