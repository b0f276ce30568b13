/**
 * A session as another machine describes it, made into one of this machine's list: under the name that the user gave that machine,
 * on this machine's clocks, without anything that could be mistaken for this machine's own. Pure.
 */
import type { MaskedDetails } from "../answers/pending-request.ts";
import { isRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import type { AskDetails } from "../core/session/ask-details.ts";
import type { Moment } from "../core/session/event.ts";
import { createMirroredRequest } from "../core/session/keys.ts";
import type { Session } from "../core/session/session.ts";
import { makeLineVisible } from "../core/text/visible.ts";
import { parseSessions } from "../state/session-schema.ts";
import { shiftMoments } from "../state/shift-moments.ts";
import type { DescribedAsk, DescribedSession } from "./protocol.ts";

/** What is added to the moments of a machine to put them on this machine's clocks. */
export type ClockShift = Moment;

/** An ask of another machine that can be answered. */
export interface MirroredAsk {
  /** The owner's name for it. */
  readonly answerId: string;
  readonly details: AskDetails;
  readonly masked: MaskedDetails;
}

export interface MirroredSession {
  readonly session: Session;
  /** By the ask's `request` in `session`. */
  readonly answerable: ReadonlyMap<string, MirroredAsk>;
}

/** Clocks that differ by less count as the same: the names of alerts contain times, and must not change with each link. */
const sameClockMs = 2_000;

/** `known` is that of an earlier link to that machine, and stays as long as it is about right. */
export function findClockShift(
  theirs: Moment,
  ours: Moment,
  known: Pick<ClockShift, "at"> | null,
): ClockShift {
  const at = ours.at - theirs.at;
  const usual = known?.at ?? 0;
  return { at: Math.abs(at - usual) < sameClockMs ? usual : Math.round(at), t: ours.t - theirs.t };
}

/** null if it is not a valid session. */
export function readDescribedSession(
  { session, answerable }: DescribedSession,
  machine: string,
  shift: ClockShift,
): MirroredSession | null {
  const [described] = parseSessions([
    limitTexts({ ...session, machine, unreachableSince: null, settled: true }),
  ]);
  if (!described || !isPlainId(described.agent) || described.sessionId === "") return null;
  const shifted = shiftMoments(described, shift);
  const { place } = shifted;
  const byId = new Map(answerable.map((ask) => [ask.id, ask]));
  const requests = new Map<string, MirroredAsk>();
  const asks = shifted.asks.slice(0, limits.maxOpenAsks).map((ask) => {
    const request = createMirroredRequest(machine, ask.request ?? ask.id);
    const found = byId.get(ask.id);
    if (found) requests.set(request, readAnswerable(found));
    return { ...ask, request: ask.request === null && !found ? null : request };
  });
  return {
    session: {
      ...shifted,
      asks,
      transcriptPath: null,
      attach: null,
      place: place && { ...place, local: false },
    },
    answerable: requests,
  };
}

export const isPlainId = (agent: string): boolean => /^[a-z][a-z0-9-]{0,31}$/.test(agent);

function readAnswerable({ answerId, details, masked }: DescribedAsk): MirroredAsk {
  return {
    answerId,
    details: showInvisible(details),
    masked: { hasSecret: masked.hasSecret, details: masked.details && showInvisible(masked.details) },
  };
}

/** Its owner has done this, unless it lies. */
function showInvisible(details: DescribedAsk["details"]): AskDetails {
  const list = (texts: readonly string[]) => texts.map((text) => makeLineVisible(text));
  return {
    ...details,
    heading: makeLineVisible(details.heading),
    lines: list(details.lines),
    dangers: list(details.dangers),
    always: list(details.always),
  } as AskDetails;
}

const maxItems = 256;
const maxDepth = 6;

/** Shortens every text and list. */
function limitTexts(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.slice(0, limits.maxTextLength);
  if (depth > maxDepth) return null;
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => limitTexts(item, depth + 1));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).slice(0, maxItems);
  return Object.fromEntries(entries.map(([name, inner]) => [name, limitTexts(inner, depth + 1)]));
}
