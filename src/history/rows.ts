/** What the app sends to the history besides the journal: what the state knows and no hook says. Plain data, for a message. */

import type { AskEnding } from "../core/answers/ending.ts";
import type { Transition } from "../core/interfaces/index.ts";
import type { SessionEvent, SpanState } from "../core/interfaces/wire.ts";
import type { SessionPort, Tokens } from "../core/session/event.ts";
import { type Ask, nameOfChild, projectOf, type Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { computeFingerprint } from "../core/view/snapshot.ts";

export interface SessionRow {
  readonly key: string;
  readonly agent: string;
  readonly sessionId: string;
  readonly project: string | null;
  readonly cwd: string | null;
  readonly branch: string | null;
  readonly title: string | null;
  readonly model: string | null;
  readonly startedAt: number;
  readonly lastAt: number;
  readonly endedAt: number | null;
  readonly tty: string | null;
  readonly pid: number | null;
  readonly fingerprint: string | null;
  readonly attended: boolean | null;
  /** null if unknown. */
  readonly tokens: number | null;
  /** null if a price is unknown. */
  readonly costMicros: number | null;
  readonly port: SessionPort | null;
}

export interface AskRow {
  readonly id: string;
  readonly key: string;
  readonly request: string | null;
  readonly kind: Exclude<Ask["kind"], "idle">;
  readonly agentId: string | null;
  readonly tool: string | null;
  readonly summary: string;
  readonly openedAt: number;
}

export type StateRow =
  | { readonly row: "session"; readonly session: SessionRow }
  | { readonly row: "ask-opened" | "ask-named"; readonly session: SessionRow; readonly ask: AskRow }
  | {
      readonly row: "ask-closed";
      readonly id: string;
      readonly request: string | null;
      readonly session: SessionRow;
      readonly at: number;
      readonly waitedMs: number;
    }
  | {
      readonly row: "ask-ended";
      readonly id: string;
      readonly request: string | null;
      readonly how: AskEnding;
      readonly where: string | null;
    }
  | { readonly row: "span"; readonly key: string; readonly state: SpanState | null; readonly at: number }
  | {
      readonly row: "child";
      readonly session: SessionRow;
      readonly agentId: string;
      readonly title: string;
      readonly startedAt: number;
      /** null while it runs. */
      readonly endedAt: number | null;
    }
  | { readonly row: "session-event"; readonly key: string; readonly event: SessionEvent }
  | { readonly row: "died"; readonly session: SessionRow; readonly at: number }
  /** An event of the stream that a client can ask for later. */
  | { readonly row: "change"; readonly seq: number; readonly event: string; readonly data: string };

/** What is open in the state. Anything else that is open in the history was closed unseen. */
export interface OpenState {
  readonly asks: readonly { readonly session: SessionRow; readonly ask: AskRow }[];
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
  };
}

function sumTokens({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}

export function createAskRow(id: string, session: Session, ask: Ask): AskRow {
  const { request, kind, agentId, tool, summary } = ask;
  const blocking = kind === "idle" ? "question" : kind;
  return {
    id,
    key: sessionKeyOf(session),
    request,
    kind: blocking,
    agentId,
    tool,
    summary,
    openedAt: ask.at,
  };
}

/** null if the history keeps nothing of it. */
export function createStateRow(transition: Transition): StateRow | null {
  switch (transition.kind) {
    case "ask-opened":
    case "ask-named": {
      const { kind, id, session, ask } = transition;
      return { row: kind, session: createSessionRow(session), ask: createAskRow(id, session, ask) };
    }
    case "ask-closed": {
      const { id, session, ask, at, waitedMs } = transition;
      const { request } = ask;
      return { row: "ask-closed", id, request, session: createSessionRow(session), at, waitedMs };
    }
    case "ask-ended": {
      const { id, ask, how, where } = transition;
      return { row: "ask-ended", id, request: ask.request, how, where };
    }
    case "span": {
      const { session, state, at } = transition;
      return { row: "span", key: sessionKeyOf(session), state, at };
    }
    case "child-appeared":
    case "child-ended": {
      const { session, child } = transition;
      const { agentId, startedAt } = child;
      const endedAt = child.running ? null : child.at;
      const title = nameOfChild(child);
      return { row: "child", session: createSessionRow(session), agentId, title, startedAt, endedAt };
    }
    case "session-event":
      return { row: "session-event", key: transition.key, event: transition.event };
    case "died":
      return { row: "died", session: createSessionRow(transition.session), at: transition.at };
    default:
      return null;
  }
}
