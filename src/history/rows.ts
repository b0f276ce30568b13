/** What the app sends to the history besides the journal: what the state knows and no hook says. Plain data, for a message. */
import type { AskEnding } from "../core/answers/ending.ts";
import type { Transition } from "../core/interfaces/index.ts";
import type { PastAsk, PastSession, Span, SpanState } from "../core/interfaces/wire.ts";
import type { SessionPort, Tokens } from "../core/session/event.ts";
import { type Ask, projectOf, type Session } from "../core/session/session.ts";
import { parseSessionKey, sessionKeyOf } from "../core/session/session-ref.ts";
import { computeFingerprint } from "../core/view/session-view.ts";
import { createAskId } from "../state/transitions.ts";
import type { BlockedSession } from "../streams/normalized-event.ts";

export interface SessionRow extends Omit<PastSession, "asks" | "spans"> {
  readonly key: string;
  readonly tty: string | null;
  readonly pid: number | null;
  readonly fingerprint: string | null;
  readonly port: SessionPort | null;
  /** The path, as the agent reported it. */
  readonly transcript: string | null;
}

/**
 * A transition, a session that changed, or an event of the stream that a client can ask for later. Spans and the ends of asks are
 * the most frequent: they have what is recorded of them, and no more.
 */
export type StateRow =
  | Exclude<Transition<SessionRow>, { readonly kind: "span" | "ask-closed" | "ask-ended" }>
  | {
      readonly kind: "span";
      readonly session: Pick<SessionRow, "key">;
      readonly state: SpanState | null;
      readonly at: number;
    }
  | {
      readonly kind: "ask-closed";
      readonly id: string;
      readonly session: BlockedSession & Pick<SessionRow, "key">;
      readonly ask: Pick<Ask, "request">;
      readonly at: number;
      readonly waitedMs: number;
    }
  | {
      readonly kind: "ask-ended";
      readonly id: string;
      readonly ask: Pick<Ask, "request">;
      readonly how: AskEnding;
      readonly where: string | null;
      readonly detail?: string | null;
    }
  | { readonly kind: "session"; readonly session: SessionRow }
  | PastRow
  /** All sessions of another machine are known: what else is open of them was closed unseen. */
  | { readonly kind: "listed"; readonly machine: string; readonly open: OpenState }
  | { readonly kind: "change"; readonly seq: number; readonly event: string; readonly data: string };

/** What a session of another machine did while that was not linked. The same can be sent again. */
export interface PastRow {
  readonly kind: "past";
  readonly session: SessionRow;
  readonly asks: readonly { readonly id: string; readonly ask: PastAsk }[];
  /** What is recorded before it stays as it is. */
  readonly since: number;
  readonly spans: readonly Span[];
}

/** The row of one kind of transition. */
export type RowOf<Kind extends StateRow["kind"]> = Extract<StateRow, { readonly kind: Kind }>;
export type AskRow = RowOf<"ask-opened" | "ask-named">;

/** What is open in the state. Anything else that is open in the history was closed unseen. */
export interface OpenState {
  readonly asks: readonly AskRow[];
  readonly spans: readonly { readonly key: string; readonly state: SpanState; readonly since: number }[];
  /** Asks that have just closed: the rows that say how follow. */
  readonly closing: readonly string[];
}

export function createSessionRow(session: Session): SessionRow {
  const { place, usage } = session;
  return {
    key: sessionKeyOf(session),
    agent: session.agent,
    sessionId: session.sessionId,
    project: projectOf(session),
    cwd: session.cwd,
    branch: session.gitBranch,
    title: session.title,
    model: session.model,
    startedAt: session.startedAt,
    lastAt: session.last.at,
    endedAt: session.ended?.at ?? null,
    tty: place?.tty ?? null,
    pid: place?.pid ?? null,
    fingerprint: computeFingerprint(session),
    attended: session.attended,
    tokens: usage && sumTokens(usage.tokens),
    costMicros: usage?.costMicros ?? null,
    port: session.port,
    transcript: session.transcriptPath,
  };
}

/** Its ids are those that the asks have here if they are seen open. */
export function createPastRow(machine: string, past: PastSession, since: number): PastRow {
  const { asks, spans, agent, sessionId, ...rest } = past;
  const ref = { machine, agent, sessionId };
  const unknown = { tty: null, pid: null, fingerprint: null, port: null, transcript: null };
  return {
    kind: "past",
    session: { ...rest, ...unknown, agent, sessionId, key: sessionKeyOf(ref) },
    asks: asks.map((ask) => ({ id: createAskId(ref, { request: ask.request, at: ask.openedAt }), ask })),
    since,
    spans,
  };
}

/** Whether nothing would change. The time of the last event is written with the events, if they are recorded here. */
export function isSameSession(a: SessionRow, b: SessionRow): boolean {
  const isOwn = (parseSessionKey(b.key)?.machine ?? null) === null;
  return (Object.keys(b) as (keyof SessionRow)[]).every(
    (name) => (name === "lastAt" && isOwn) || a[name] === b[name],
  );
}

function sumTokens({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}

export function createStateRow(transition: Transition): StateRow {
  switch (transition.kind) {
    case "span": {
      const { kind, session, state, at } = transition;
      return { kind, session: { key: sessionKeyOf(session) }, state, at };
    }
    case "ask-closed": {
      const { kind, id, ask, at, waitedMs } = transition;
      const { key, sessionId, project, tty, fingerprint } = createSessionRow(transition.session);
      const session = { key, sessionId, project, tty, fingerprint };
      return { kind, id, session, ask: { request: ask.request }, at, waitedMs };
    }
    case "ask-ended": {
      const { kind, id, ask, how, where, detail = null } = transition;
      return { kind, id, ask: { request: ask.request }, how, where, detail };
    }
    case "session-event":
    case "departed":
      return transition;
    default:
      return { ...transition, session: createSessionRow(transition.session) };
  }
}
