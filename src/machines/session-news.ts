/** What is new about this machine's sessions, for the machines that are linked to it. Each change is described once. */
import type { PendingRequests } from "../answers/pending.ts";
import { createGrowingIds } from "../core/growing-ids.ts";
import type { Schedule, Transition } from "../core/interfaces/index.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { parseSessionKey, type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import { findSettleTime } from "../core/session/settle.ts";
import { describeWithin } from "./described.ts";
import type { DescribedSession, OwnerMessage } from "./protocol.ts";

export interface SessionNewsOptions<Follower> {
  readonly clock: () => ClockReading;
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly pending: Pick<PendingRequests, "details" | "maskedDetails">;
  /** Whether there is anybody to tell. */
  readonly isFollowed: () => boolean;
  /** Tells every follower, but for this one, what concerns the session. */
  readonly tell: (message: OwnerMessage, session: SessionRefLike, except: Follower | null) => void;
  /** The last number of an earlier run, if there is one. */
  readonly lastSeq?: number;
  readonly schedule: Schedule;
  readonly onProblem: (text: string) => void;
}

export interface SessionNews<Follower> {
  readonly nextSeq: () => number;
  /** Describes the session as it is now, and tells it to the others if they know it differently. */
  describe(
    session: Session,
    except: Follower,
  ): { readonly described: DescribedSession; readonly length: number };
  onChange(session: Session): void;
  /** `session` has the ask. It is told also if the ask has ended by the time at which the session is described. */
  onAskOpened(session: Session): void;
  onDeparted(key: string): void;
  onAskEnded(ended: Extract<Transition, { kind: "ask-ended" }>): void;
  /** There is nobody left to tell. */
  clear(): void;
}

/** Changes that follow something that was told within this time are described together. The first is described at once. */
const gatherMs = 15;

export function createSessionNews<Follower>(options: SessionNewsOptions<Follower>): SessionNews<Follower> {
  const { clock, schedule, pending, get, tell } = options;
  /** Hashes of what the followers know about each session, by its key. */
  const told = new Map<string, number | bigint>();
  const changed = new Set<string>();
  /** Sessions with asks that opened since they were described, by their keys. */
  const opened = new Map<string, Session[]>();
  /** Sessions whose requests are too long, by their keys. */
  const reported = new Set<string>();
  const nextSeq = createGrowingIds(() => clock().at, options.lastSeq);
  let toldT = Number.NEGATIVE_INFINITY;
  let cancelFlush: (() => void) | null = null;

  function describe(session: Session, except: Follower | null) {
    const { t } = clock();
    const { described, text, tooLong } = describeWithin(session, t, pending);
    const key = sessionKeyOf(session);
    const hash = Bun.hash(text);
    if (told.get(key) !== hash) {
      told.set(key, hash);
      toldT = t;
      const settlesT = findSettleTime(session, t);
      if (settlesT !== null) schedule(() => onChange(session), settlesT - t + 1);
      tell({ kind: "session", seq: nextSeq(), described }, session, except);
    }
    if (tooLong !== null) reportTooLong(session, tooLong);
    return { described, length: text.length };
  }

  function reportTooLong(session: Session, length: number): void {
    const key = sessionKeyOf(session);
    if (reported.has(key)) return;
    reported.add(key);
    options.onProblem(
      `what session ${session.sessionId} asks is too long for linked machines (${length} characters): it can be answered only here`,
    );
  }

  function onChange(session: Session): void {
    if (!options.isFollowed()) return;
    changed.add(sessionKeyOf(session));
    cancelFlush ??= schedule(flush, Math.max(0, toldT + gatherMs - clock().t));
  }

  function flush(): void {
    cancelFlush?.();
    cancelFlush = null;
    const keys = [...changed];
    changed.clear();
    for (const key of keys) {
      const ref = parseSessionKey(key);
      const session = ref && get(ref);
      if (session) describeOpened(key, session);
      if (session) describe(session, null);
    }
    opened.clear();
  }

  /** A rule can answer within a millisecond: the histories of the others have to have the ask too. */
  function describeOpened(key: string, now: Session): void {
    const isOver = ({ asks }: Session) => asks.some(({ id }) => !now.asks.some((open) => open.id === id));
    for (const earlier of opened.get(key)?.filter(isOver) ?? []) describe(earlier, null);
  }

  return {
    nextSeq,
    describe,
    onChange,
    onAskOpened(session) {
      if (!options.isFollowed()) return;
      const key = sessionKeyOf(session);
      opened.set(key, [...(opened.get(key) ?? []), session]);
      onChange(session);
    },
    onDeparted(key) {
      const ref = parseSessionKey(key);
      if (!ref || !told.delete(key)) return;
      const { agent, sessionId } = ref;
      tell({ kind: "gone", seq: nextSeq(), agent, sessionId }, ref, null);
    },
    onAskEnded({ session, ask, how, where }) {
      const { agent, sessionId } = session;
      // The session without the ask first. The answer log finds out before the change gets here.
      changed.add(sessionKeyOf(session));
      flush();
      tell({ kind: "ask-ended", seq: nextSeq(), agent, sessionId, ask: ask.id, how, where }, session, null);
    },
    clear() {
      cancelFlush?.();
      cancelFlush = null;
      told.clear();
      changed.clear();
      opened.clear();
      reported.clear();
    },
  };
}
