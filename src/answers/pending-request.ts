/** A permission request that waits for the user: read from its hook's envelope, and described in full. */
import type { AnswerSupport, RequestContext } from "../agents/agent.ts";
import { openEnvelope } from "../agents/envelope.ts";
import type { LoadedAgents } from "../agents/index.ts";
import type { AskEnd, HookConnection } from "../core/interfaces/index.ts";
import { asRecord, isRecord, type JsonRecord, parseJson } from "../core/json.ts";
import type { AskDetails } from "../core/session/ask-details.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { AskPrecedent } from "../core/session/precedent.ts";
import { isProbe } from "../core/session/probe.ts";
import type { Ask, Session } from "../core/session/session.ts";
import type { SessionRefLike } from "../core/session/session-ref.ts";
import { hashJson } from "../core/text/json-text.ts";
import { resolvePath } from "../core/text/paths.ts";
import { signDecision } from "../system/decision-signature.ts";
import { addOtherChanges, type OtherChanges } from "./other-changes.ts";
import { diskLinks } from "./real-paths.ts";

export interface MaskedDetails {
  /** null if it cannot be described without its secrets. */
  readonly details: AskDetails | null;
  /** Something in it was masked, so it does not show exactly what would run. */
  readonly hasSecret: boolean;
}

export type GivenAnswer = Omit<AskEnd, "at">;

export interface PendingRequest {
  /** The id of the event that asked. */
  readonly request: string;
  readonly agent: string;
  readonly sessionId: string;
  readonly connection: HookConnection;
  /** Sends a decision, as JSON text. False if the other side is gone. */
  readonly deliver: (decision: string) => boolean;
  /** Exact and unmasked: kept in memory only, and no longer than the connection. */
  readonly payload: JsonRecord;
  readonly answering: AnswerSupport;
  /** What the user is shown of this payload. null if it is not a request. */
  readonly describe: (payload: JsonRecord) => AskDetails | null;
  details: AskDetails;
  /** Why it can be allowed only in the terminal, though it was shown in full. null if it can be allowed. */
  changed: string | null;
  /** What the user has answered to requests like it. null if unknown. */
  precedent: AskPrecedent | null;
  /** Created when it is first needed. */
  masked: MaskedDetails | null;
  readonly context: RequestContext;
  readonly sinceT: number;
  /** The answer that was sent, until the hook confirms it. */
  sent: { readonly answer: GivenAnswer; readonly confirm: (how: DeliveryConfirmation) => void } | null;
}

export type DeliveryConfirmation = "printed" | "closed";

/** What a hook or a watcher brings; the rest is found here. */
export type RequestSource = Pick<
  PendingRequest,
  "agent" | "sessionId" | "request" | "payload" | "connection" | "deliver"
>;

export interface RequestReaderOptions {
  readonly agents: LoadedAgents;
  /** Decisions are signed with it. */
  readonly key: string;
  /** The user's home folder. */
  readonly home: string;
  readonly clock: () => ClockReading;
  /** The session as it stands now. */
  readonly getSettled: (ref: SessionRefLike) => Session | null;
  readonly otherChanges?: OtherChanges;
}

export interface RequestReader {
  /** null if the hook must not wait. */
  parse(envelope: string, connection: HookConnection): PendingRequest | null;
  /** null if the request cannot be answered from here. */
  create(source: RequestSource): PendingRequest | null;
}

export function createRequestReader({
  agents,
  key,
  home,
  clock,
  getSettled,
  otherChanges,
}: RequestReaderOptions): RequestReader {
  const agentDangers = [...agents.values()].flatMap(({ dangers }) => dangers ?? []);

  function create(source: RequestSource): PendingRequest | null {
    const { agent, payload } = source;
    const answering = agents.get(agent)?.answering;
    const session = getSettled(source);
    const ask = findAsk(session, source.request);
    if (!answering || !session || !ask || isProbe(session)) return null;
    if (!answering.isAnswerable(payload, ask) || session.attended === false) return null;
    const context = {
      cwd: session.firstCwd ?? session.cwd,
      // On another machine, or in a container, `~` is another folder.
      home: session.place?.local === true ? home : null,
      agentDangers,
      links: diskLinks,
    };
    const subject = answering.readSubject?.(payload);
    const folder = subject?.cwd ?? context.cwd ?? "/";
    const paths = subject?.kind === "edit" ? subject.paths.map((path) => resolvePath(folder, path)) : [];
    const others = otherChanges?.find(source, paths) ?? [];
    const describe = (asked: JsonRecord): AskDetails | null => {
      const described = answering.describe(asked, context);
      return described && addOtherChanges(described, others);
    };
    const details = describe(payload);
    if (!details) return null;
    const sinceT = clock().t;
    const open = { changed: null, precedent: null, masked: null, sent: null };
    return { ...source, ...open, answering, describe, details, context, sinceT };
  }

  return {
    parse(envelope, connection) {
      const body = parseJson(envelope);
      const hook = openEnvelope(body, "", clock().host);
      const request = hook?.meta.id ?? null;
      // A payload that was shortened to fit cannot be shown in full, so it cannot be answered.
      const isShortened = isRecord(body) && isRecord(body._meta) && body._meta.cut === true;
      if (!hook || request === null || isShortened) return null;
      const { payload, provider: agent, meta } = hook;
      const sessionId = agents.get(agent)?.answering?.findSessionId(payload) ?? null;
      if (sessionId === null || meta.attended === false) return null;
      const deliver = (decision: string) => connection.send(`${signDecision(key, request, decision)}\n`);
      return create({ agent, sessionId, request, payload, connection, deliver });
    },
    create,
  };
}

export function findAsk(session: Session | null, request: string): Ask | null {
  return session?.asks.find((ask) => ask.request === request) ?? null;
}

/**
 * Masks the payload before it is described: a description is wrapped and cut, and half of a secret is not recognised as one.
 */
export function describeMasked(
  { payload, details, describe }: PendingRequest,
  maskJson: (json: string) => string,
): MaskedDetails {
  const json = JSON.stringify(payload);
  const masked = maskJson(json);
  if (masked === json) return { details, hasSecret: false };
  const shown = describe(asRecord(JSON.parse(masked)));
  return { details: shown, hasSecret: JSON.stringify(shown) !== JSON.stringify(details) };
}

/**
 * Describes the request again: a link may lead elsewhere since it was shown. Then it cannot be allowed from here any more, because a
 * message on a phone or a notification may still show what it was. Returns whether that has changed.
 */
export function noticeChangedLinks(request: PendingRequest): boolean {
  const { describe, payload, details } = request;
  const now = describe(payload) ?? details;
  if (request.changed !== null || hashJson(now) === hashJson(details)) return false;
  request.changed = `a link was changed after this was shown, so it would not do what you saw: ${now.heading}. Look at it in the terminal`;
  const warning = "a link was changed after this was first shown";
  request.details = { ...now, isWhole: false, dangers: [warning, ...now.dangers] };
  request.masked = null;
  return true;
}
