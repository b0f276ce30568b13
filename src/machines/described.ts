/** What a machine says of its sessions, now and since a follower was linked last: cut to what another machine may need. Pure. */
import type { PendingRequests } from "../answers/pending.ts";
import { atOfGrowingId } from "../core/growing-ids.ts";
import type { PastSession } from "../core/interfaces/wire.ts";
import { answerIdOf } from "../core/session/keys.ts";
import { isProbe } from "../core/session/probe.ts";
import { isVisible, type Session } from "../core/session/session.ts";
import { settle } from "../core/session/settle.ts";
import { dayMs, minuteMs } from "../core/timing.ts";
import {
  type DescribedAsk,
  type DescribedPast,
  type DescribedSession,
  maxMirroredSessions,
  maxPastAsks,
  maxPastSpans,
  type OwnerMessage,
} from "./protocol.ts";

type MissedMessage = Extract<OwnerMessage, { kind: "missed" }>;

/** A message of several sessions gets no longer than this and one session. */
export const partLength = 256 * 1024;
/** A session that takes more has requests that are too long to be answered elsewhere. */
const maxDescribedLength = 1024 * 1024;
/** What happened a little before the follower's last message is sent again: its history may not have it. */
const overlapMs = minuteMs;
export const maxPastMs = 30 * dayMs;

/** From when on the history is read for a follower that got this message last. */
export function findPastStart(seq: number, now: number): number {
  const at = atOfGrowingId(seq);
  // The clock was set back meanwhile: nothing is known about the order of what happened.
  if (at > now + overlapMs) return now - dayMs;
  return Math.max(at - overlapMs, now - maxPastMs);
}

/** Those that go on, then the newest. */
export function chooseSessions(sessions: readonly Session[]): readonly Session[] {
  const own = sessions.filter((session) => !isProbe(session));
  if (own.length <= maxMirroredSessions) return own;
  const rank = ({ ended }: Session) => (ended ? 1 : 0);
  return own.toSorted((a, b) => rank(a) - rank(b) || b.last.at - a.last.at).slice(0, maxMirroredSessions);
}

/** What a follower has missed, in messages that are not too long. One says that there is nothing. */
export function createMissedMessages(past: readonly PastSession[], upTo: number): MissedMessage[] {
  const parts = splitByLength(past.map(shortenPast));
  return (parts.length === 0 ? [[]] : parts).map((sessions, index) => ({
    kind: "missed",
    sessions,
    upTo,
    ...(index < parts.length - 1 ? { isPart: true as const } : {}),
  }));
}

/** Of a session with more, the newest are sent. */
function shortenPast(session: PastSession): DescribedPast {
  const asks = session.asks.slice(-maxPastAsks).map((ask) => ({ ...ask }));
  return { ...session, asks, spans: session.spans.slice(-maxPastSpans).map((span) => ({ ...span })) };
}

function splitByLength<Item>(items: readonly Item[]): Item[][] {
  const parts: Item[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const item of items) {
    if (length >= partLength) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)?.push(item);
    length += JSON.stringify(item).length;
  }
  return parts;
}

/** Without requests that are too long for a message: they are answered on their own machine. */
export function describeWithin(
  session: Session,
  t: number,
  pending: Pick<PendingRequests, "details" | "maskedDetails">,
) {
  const whole = describeSession(session, t, pending);
  const text = JSON.stringify(whole);
  if (text.length <= maxDescribedLength) return { described: whole, text, tooLong: null };
  const described = { ...whole, answerable: [] };
  return { described, text: JSON.stringify(described), tooLong: text.length };
}

/** Without what only its own machine needs. Its paths would mean other files elsewhere. */
function shorten(session: Session): Session {
  const { place } = session;
  return {
    ...session,
    settled: true,
    tools: [],
    payloads: [],
    documents: [],
    edits: [],
    // What it shares with sessions of other machines, each machine finds out itself.
    sharedFiles: session.sharedFiles.filter(({ machine }) => machine === null),
    transcriptPath: null,
    children: session.children.map((child) => ({ ...child, transcriptPath: null })),
    // A process that is not watched here is not watched by anybody.
    place: place && (place.local ? place : { ...place, pid: null }),
  };
}

/** The session as it stands at `t`, with everything that can be answered. */
function describeSession(
  session: Session,
  t: number,
  pending: Pick<PendingRequests, "details" | "maskedDetails">,
): DescribedSession {
  const settled = settle(session, t);
  const answerable = settled.asks.filter(isVisible).flatMap((ask) => {
    const details = pending.details(ask);
    const masked = pending.maskedDetails(ask);
    return details && masked
      ? [{ id: ask.id, answerId: answerIdOf(ask), details, masked } as DescribedAsk]
      : [];
  });
  return { session: { ...shorten(settled) }, answerable };
}
