/**
 * What a machine's sessions asked while nobody here could follow: states that are not the newest any more. An ask that opened and ended
 * in them is for the history alone: it is never shown as one that needs the user.
 */
import { forgetOldest } from "../../core/forget-oldest.ts";
import { createAskAlertKey } from "../../core/session/keys.ts";
import { isBlocking, isVisible, type Session } from "../../core/session/session.ts";
import type { SessionRefLike } from "../../core/session/session-ref.ts";
import { parseSessions } from "../../state/session-schema.ts";
import type { DescribedPast, OwnerMessage } from "../protocol.ts";

type PastAsk = DescribedPast["asks"][number];

interface MissedAsk {
  readonly session: Session;
  readonly ask: PastAsk;
}

export interface Backlog {
  /** A state that newer ones follow, or an end that nobody has seen here. `at` is the machine's clock. */
  takeOld(message: OwnerMessage, at: number): void;
  /** What is mirrored now: what is open in it is not missed. */
  takeCurrent(message: OwnerMessage, at: number): void;
  /** What is for the history since the last call. */
  collect(): DescribedPast[];
  /** Whether there was more than is kept, since the last call. */
  takeLost(): boolean;
}

const maxMissedAsks = 1_000;
/** Until somebody takes it. */
const maxPast = 10_000;

export function createBacklog(): Backlog {
  /** Seen open in an old state, and not yet known how they ended. */
  const open = new Map<string, MissedAsk>();
  let past: DescribedPast[] = [];
  let hasLost = false;

  function emit({ session, ask }: MissedAsk): void {
    if (past.length >= maxPast) hasLost = true;
    else past.push({ ...describePast(session), asks: [ask] });
  }

  function close(key: string, missed: MissedAsk, at: number): void {
    if (missed.ask.closedAt !== null) return;
    const closed = { ...missed.ask, closedAt: at, waitedMs: Math.max(0, at - missed.ask.openedAt) };
    const next = { ...missed, ask: closed };
    open.set(key, next);
    emit(next);
  }

  /** The asks of the session that this state does not have any more. */
  function closeOthers(session: SessionRefLike, ids: ReadonlySet<string>, at: number): void {
    if (open.size === 0) return;
    const start = createAskAlertKey(session, "");
    for (const [key, missed] of open)
      if (key.startsWith(start) && !ids.has(key.slice(start.length))) close(key, missed, at);
  }

  function end(
    { agent, sessionId, ask, how, where }: Extract<OwnerMessage, { kind: "ask-ended" }>,
    at: number,
  ): void {
    const key = createAskAlertKey({ agent, sessionId }, ask);
    const missed = open.get(key);
    if (!missed) return;
    open.delete(key);
    const closedAt = missed.ask.closedAt ?? at;
    const waitedMs = Math.max(0, closedAt - missed.ask.openedAt);
    emit({ ...missed, ask: { ...missed.ask, closedAt, waitedMs, how, place: where } });
  }

  return {
    takeOld(message, at) {
      if (message.kind === "ask-ended") end(message, at);
      if (message.kind === "gone") closeOthers(message, new Set(), at);
      if (message.kind !== "session") return;
      const { asks } = message.described.session;
      if (open.size === 0 && Array.isArray(asks) && asks.length === 0) return;
      const [session] = parseSessions([message.described.session]);
      if (!session) return;
      closeOthers(session, new Set(session.asks.map(({ id }) => id)), at);
      for (const ask of session.asks) {
        const key = createAskAlertKey(session, ask.id);
        if (!isBlocking(ask) || !isVisible(ask)) continue;
        open.set(key, { session, ask: open.get(key)?.ask ?? describeAsk(ask) });
        const [oldest] = open.values();
        hasLost ||= open.size > maxMissedAsks && oldest?.ask.closedAt === null;
        forgetOldest(open, maxMissedAsks);
      }
    },
    takeCurrent(message, at) {
      if (message.kind === "ask-ended") end(message, at);
      if (message.kind === "gone") closeOthers(message, new Set(), at);
      if (message.kind !== "session" || open.size === 0) return;
      const { session } = message.described;
      const list: readonly unknown[] = Array.isArray(session.asks) ? session.asks : [];
      const ids = new Set(list.map((ask) => String(Object(ask).id)));
      const ref = { agent: String(session.agent), sessionId: String(session.sessionId) };
      closeOthers(ref, ids, at);
      for (const id of ids) open.delete(createAskAlertKey(ref, id));
    },
    collect() {
      const collected = past;
      past = [];
      return collected;
    },
    takeLost() {
      const wasLost = hasLost;
      hasLost = false;
      return wasLost;
    },
  };
}

const describeAsk = ({ request, kind, agentId, tool, summary, at }: Session["asks"][number]): PastAsk => ({
  request,
  kind,
  agentId,
  tool,
  summary,
  openedAt: at,
  closedAt: null,
  waitedMs: null,
  how: null,
  place: null,
  detail: null,
});

function describePast(session: Session): DescribedPast {
  const { agent, sessionId, project, cwd, gitBranch, title, model, startedAt, last, ended, attended, usage } =
    session;
  return {
    agent,
    sessionId,
    project,
    cwd,
    branch: gitBranch,
    title,
    model,
    startedAt,
    lastAt: last.at,
    endedAt: ended?.at ?? null,
    attended,
    tokens: usage && Object.values(usage.tokens).reduce((sum, count) => sum + count, 0),
    costMicros: usage?.costMicros ?? null,
    asks: [],
    spans: [],
  };
}
