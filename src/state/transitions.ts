/**
 * Finds what a change of a session means to a user: an ask opened or closed, a turn started or ended, a subagent appeared. The
 * status file can decide without an event, so sessions are compared again for a moment after their last one.
 */
import type { AskEnd, Schedule, Transition } from "../core/interfaces/index.ts";
import type { SpanState } from "../core/interfaces/wire.ts";
import type { ClockReading } from "../core/session/event.ts";
import { isProbe } from "../core/session/probe.ts";
import { type Ask, hasDied, isBlocking, isVisible, type Session } from "../core/session/session.ts";
import { type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import { settle } from "../core/session/settle.ts";
import { timing } from "../core/timing.ts";
import { createAskEndings } from "./ask-endings.ts";

export interface TransitionFinderOptions {
  readonly clock: () => ClockReading;
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly schedule: Schedule;
  readonly onTransition: (transition: Transition) => void;
}

export interface TransitionFinder {
  onChange(session: Session, at: number): void;
  onAskEnded(end: Pick<AskEnd, "session" | "ask" | "how" | "by">): void;
  onDeparted(key: string): void;
  /** Takes the sessions as known, without transitions: what is open in them was open before. */
  restore(sessions: readonly Session[]): void;
  /** Reports the asks that closed a moment ago as ended, as far as that is known. */
  stop(): void;
}

interface OpenAsk {
  readonly id: string;
  ask: Ask;
  /** null while it is not on the screen. */
  shownAt: number | null;
  waitedMs: number;
}

interface Known {
  session: Session;
  state: SpanState | null;
  /** By the ask's own id. */
  readonly asks: Map<string, OpenAsk>;
}

const tickMs = 250;
/** The status file has decided by then. */
const watchMs = timing.contradictionMs + timing.settleMs;

export function createTransitionFinder(options: TransitionFinderOptions): TransitionFinder {
  const { clock, onTransition } = options;
  const known = new Map<string, Known>();
  /** Sessions that changed a moment ago. */
  const recent = new Set<string>();
  const endings = createAskEndings(clock, onTransition);
  let cancelTick: (() => void) | null = null;

  function compare(key: string, session: Session, at: number): void {
    let entry = known.get(key);
    if (entry && isUnchanged(entry.session, session)) {
      entry.session = session;
      return;
    }
    if (!entry) {
      entry = { session, state: null, asks: new Map() };
      known.set(key, entry);
    }
    compareAsks(entry, session, at);
    compareChildren(entry.session, session);
    const state = spanStateOf(session);
    if (state !== entry.state) onTransition({ kind: "span", session, before: entry.state, state, at });
    if (hasDied(session) && !hasDied(entry.session)) onTransition({ kind: "died", session, at });
    entry.state = state;
    entry.session = session;
    if (session.ended) known.delete(key);
  }

  function compareAsks({ asks }: Known, session: Session, at: number): void {
    for (const ask of session.asks) {
      if (!isBlocking(ask)) continue;
      const open = asks.get(ask.id);
      if (open) updateAsk(open, session, ask, at);
      else if (isVisible(ask)) {
        const id = createAskId(session, ask);
        asks.set(ask.id, { id, ask, shownAt: ask.at, waitedMs: 0 });
        onTransition({ kind: "ask-opened", id, session, ask });
      }
    }
    for (const [askId, open] of asks) {
      if (session.asks.some(({ id }) => id === askId)) continue;
      asks.delete(askId);
      close(open, session, at);
    }
  }

  function updateAsk(open: OpenAsk, session: Session, ask: Ask, at: number): void {
    const isNamed = ask.request !== open.ask.request || ask.summary !== open.ask.summary;
    if (isVisible(ask) && open.shownAt === null) open.shownAt = at;
    if (!isVisible(ask)) pause(open, at);
    open.ask = ask;
    if (isNamed) onTransition({ kind: "ask-named", id: open.id, session, ask });
  }

  function close(open: OpenAsk, session: Session, at: number): void {
    pause(open, at);
    const { id, ask, waitedMs } = open;
    onTransition({ kind: "ask-closed", id, session, ask, at, waitedMs });
    // Only the end of an ask that a hook opened is examined further.
    if (ask.from === "hook") endings.expect({ id, session, ask, waitedMs });
    else onTransition({ kind: "ask-ended", id, session, ask, how: "dismissed", where: null, waitedMs });
  }

  function compareChildren(before: Session, session: Session): void {
    if (session.children === before.children) {
      if (session !== before) return;
      // The first event of a session: `before` is the session itself.
      for (const child of session.children)
        if (child.running) onTransition({ kind: "child-appeared", session, child });
      return;
    }
    for (const child of session.children) {
      const old = before.children.find(({ agentId }) => agentId === child.agentId);
      if (child.running && !old?.running) onTransition({ kind: "child-appeared", session, child });
      if (!child.running && old?.running) onTransition({ kind: "child-ended", session, child });
    }
  }

  function tick(): void {
    cancelTick = null;
    const now = clock();
    for (const key of recent) {
      const entry = known.get(key);
      const session = entry && options.get(entry.session);
      if (session) compare(key, settle(session, now.t), now.at);
      if (!session || now.t - session.newest > watchMs) recent.delete(key);
    }
    endings.endOverdue(now.t);
    scheduleTick();
  }

  function scheduleTick(): void {
    if (cancelTick === null && (recent.size > 0 || endings.areExpected()))
      cancelTick = options.schedule(tick, tickMs);
  }

  return {
    onChange(session, at) {
      if (isProbe(session)) return;
      const key = sessionKeyOf(session);
      compare(key, session, at);
      recent.add(key);
      scheduleTick();
    },
    onAskEnded: endings.onEnded,
    onDeparted(key) {
      const entry = known.get(key);
      const { at } = clock();
      if (entry?.state)
        onTransition({ kind: "span", session: entry.session, before: entry.state, state: null, at });
      known.delete(key);
      onTransition({ kind: "departed", key, at });
    },
    restore(sessions) {
      for (const session of sessions) {
        if (session.ended || isProbe(session)) continue;
        const asks = session.asks.filter((ask) => isBlocking(ask) && isVisible(ask));
        known.set(sessionKeyOf(session), {
          session,
          state: spanStateOf(session),
          asks: new Map(
            asks.map((ask) => [ask.id, { id: createAskId(session, ask), ask, shownAt: ask.at, waitedMs: 0 }]),
          ),
        });
      }
    },
    stop() {
      cancelTick?.();
      endings.endOverdue(Number.POSITIVE_INFINITY);
    },
  };
}

function pause(open: OpenAsk, at: number): void {
  if (open.shownAt !== null) open.waitedMs += Math.max(0, at - open.shownAt);
  open.shownAt = null;
}

/** Most events change none of this: the session then shares these values with the one before. */
function isUnchanged(before: Session, session: Session): boolean {
  return (
    session.asks === before.asks &&
    session.turn === before.turn &&
    session.children === before.children &&
    session.ended === before.ended
  );
}

export function createAskId(session: SessionRefLike, { request, at }: Pick<Ask, "request" | "at">): string {
  return request === null ? `${sessionKeyOf(session)}#${at}:ask` : `${request}:ask`;
}

/** null if the session is over. Unattended runs wait for nobody. */
export function spanStateOf(session: Session): SpanState | null {
  if (session.ended) return null;
  const isWaiting = session.asks.some((ask) => isBlocking(ask) && isVisible(ask));
  if (isWaiting && session.attended !== false) return "waiting";
  if (isWaiting || session.turn.running || session.children.some((child) => child.running)) return "working";
  return session.turn.error === null ? "ready" : "failed";
}
