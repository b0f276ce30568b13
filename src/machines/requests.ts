/** What the users of other machines ask of this one, whatever carries it. */
import { version } from "../../package.json";
import type { PendingRequests } from "../answers/pending.ts";
import type { Answer } from "../core/session/ask-details.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import type { SessionRefLike } from "../core/session/session-ref.ts";
import type { FocusOutcome } from "../core/terminals/terminal.ts";
import { truncateEnd } from "../core/text/text.ts";
import type { Hello } from "./carrier.ts";
import { type FollowerRequest, protocolVersion, type RequestOutcome } from "./protocol.ts";

export type RequestedPrompt = Pick<
  Extract<FollowerRequest, { kind: "send" }>,
  "promptId" | "text" | "when" | "afterMs" | "by"
>;
/** A text if the session takes none. */
export type SentOutcome = Extract<RequestOutcome, { ok: true }>["prompt"] | string;

export interface AskedOptions {
  readonly get: (ref: SessionRefLike) => Session | null;
  readonly pending: Pick<PendingRequests, "answer">;
  /** Sends the session its next prompt. */
  readonly send: (session: Session, prompt: RequestedPrompt) => Promise<SentOutcome>;
  readonly focus: (session: Session) => Promise<FocusOutcome>;
  /** `SSH_CONNECTION` of the logins whose terminals show the session's pane. */
  readonly findLogins: (session: Session) => Promise<readonly string[]>;
}

/** A user makes some requests a minute. */
export const maxMessagesPerSecond = 100;
export const maxRequests = 8;
export const maxNameWidth = 60;
const maxLogins = 8;

/** Does what the user of a linked machine wants, as if it were wanted here. */
export async function actFor(
  message: FollowerRequest,
  name: string,
  { get, focus, findLogins, pending, send }: AskedOptions,
): Promise<RequestOutcome> {
  const session = get({ agent: message.agent, sessionId: message.sessionId });
  if (!session) return { ok: false, status: 404, says: "the session is not listed there any more" };
  if (message.kind === "look")
    return { ok: true, says: "seen", logins: (await findLogins(session)).slice(0, maxLogins) };
  if (message.kind === "focus") {
    const { result, why, login } = await focus(session);
    if (login !== undefined) {
      // tmux shows the pane to everybody who is attached, and the user of the linked machine may not be the last who was.
      const others = (await findLogins(session)).filter((other) => other !== login);
      const logins = login === null ? others : [login, ...others];
      return { ok: true, says: "selected", logins: logins.slice(0, maxLogins) };
    }
    return result === "impossible" ? { ok: false, status: 409, says: why ?? "" } : { ok: true, says: result };
  }
  if (message.kind === "send") {
    const by = `${truncateEnd(message.by, maxNameWidth)} on ${name}`;
    const sent = await send(session, { ...message, by });
    if (typeof sent === "string") return { ok: false, status: 409, says: sent };
    return { ok: true, says: sent?.state ?? "", ...(sent ? { prompt: sent } : {}) };
  }
  const { step } = message;
  const by = `${truncateEnd(step.by ?? step.front, maxNameWidth)} on ${name}`;
  const result = await pending.answer(session, message.answerId, message.answer as Answer, { ...step, by });
  if (typeof result === "string") return { ok: false, status: 400, says: result };
  if ("refused" in result) return { ok: false, status: result.refused, says: result.error };
  return { ok: true, says: result.answered };
}

export interface HelloOptions {
  readonly machineId: string;
  readonly agents: () => readonly string[];
  /** A channel is set up, and does not fail. */
  readonly hasChannels: () => boolean;
  readonly clock: () => ClockReading;
}

export function createHello({ machineId, agents, hasChannels, clock }: HelloOptions): Hello {
  const { at, t } = clock();
  return {
    kind: "hello",
    protocol: protocolVersion,
    version,
    machineId,
    now: { at, t },
    agents: [...agents()],
    hasChannels: hasChannels(),
  };
}
