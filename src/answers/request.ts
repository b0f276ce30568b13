/** A permission hook that wants to wait for an answer: whether it may, and what it brings. */
import type { AnswerSupport } from "../agents/agent.ts";
import { openEnvelope } from "../agents/envelope.ts";
import type { LoadedAgents } from "../agents/index.ts";
import { isRecord, type JsonRecord } from "../core/json.ts";
import type { HookConnection } from "../core/ports.ts";
import type { AskDetails } from "../core/session/ask-details.ts";
import type { ClockReading } from "../core/session/event.ts";
import { isProbe } from "../core/session/probe.ts";
import type { Ask, Session } from "../core/session/session.ts";
import type { GivenAnswer } from "./text.ts";

export interface PendingRequest {
  readonly request: string;
  readonly agent: string;
  readonly sessionId: string;
  readonly line: HookConnection;
  /** Exact and unmasked: in memory only, and no longer than the line is held. */
  readonly payload: JsonRecord;
  readonly answering: AnswerSupport;
  readonly details: AskDetails;
  readonly cwd: string | null;
  readonly sinceT: number;
  /** The answer that was sent, until the hook has confirmed it. */
  taken: { readonly verdict: GivenAnswer; readonly end: (how: Confirmation) => void } | null;
}

export type Confirmation = "printed" | "closed" | "silent";

export function findAsk(session: Session | null, request: string): Ask | null {
  return session?.asks.find((ask) => ask.request === request) ?? null;
}

interface Known {
  readonly agents: LoadedAgents;
  readonly here: ClockReading;
  /** The session as it stands now. */
  readonly current: (agent: string, sessionId: string) => Session | null;
}

/** null: it is not to wait. */
export function acceptRequest(
  text: string,
  line: HookConnection,
  { agents, here, current }: Known,
): PendingRequest | null {
  const body: unknown = parse(text);
  const hook = openEnvelope(body, "", here.host);
  const request = hook?.meta.id ?? null;
  // Shortened to fit: nobody can see what it really says.
  const isCut = isRecord(body) && isRecord(body._meta) && body._meta.cut === true;
  if (!hook || request === null || isCut) return null;
  const { payload, provider: agent, meta } = hook;
  const answering = agents.get(agent)?.answering;
  const sessionId = answering?.findSessionId(payload) ?? null;
  const session = sessionId === null ? null : current(agent, sessionId);
  const ask = findAsk(session, request);
  if (!answering || !session || !ask || isProbe(session)) return null;
  if (!answering.isAnswerable(payload, ask)) return null;
  if (meta.attended === false || session.attended === false) return null;
  const cwd = session.firstCwd ?? session.cwd;
  const asked = answering.describe(payload, { cwd });
  if (!asked) return null;
  const about = {
    request,
    agent,
    sessionId: session.sessionId,
    line,
    payload,
    answering,
    details: asked,
    cwd,
  };
  return { ...about, sinceT: here.t, taken: null };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
