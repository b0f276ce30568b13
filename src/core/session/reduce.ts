/**
 * reduce: the known events of a session and one more event give the next state of that session.
 *
 * Events arrive late, duplicated and out of order. The last ones are kept, ordered by their stamps. An event that belongs
 * between them makes reduce replay the kept events from a base state that no late event can change any more. So the same events
 * give the same session in whatever order they arrive. Sessions do not depend on each other, so an event costs the same with
 * ten or ten thousand of them.
 */
import { timing } from "../timing.ts";
import { applyEvent } from "./apply.ts";
import { type AgentEvent, isSamePlace } from "./event.ts";
import type { Session } from "./session.ts";

export interface EventWindow {
  /** The session before the first of `recent`; null if it did not exist. */
  readonly base: Session | null;
  /** The kept events, ordered by `t`. */
  readonly recent: readonly AgentEvent[];
  /** The session after the first `middleAt` events: the next base. */
  readonly middle: Session | null;
  readonly middleAt: number;
  /** The session after all events. */
  readonly session: Session;
}

/** The window moves by this many events at once, and only past events that no late one can precede. */
const stepEvents = 8;
/** A bound for bursts. The garbage collector has to walk through everything that is kept. */
const maxEvents = 512;

export function reduce(window: EventWindow | undefined, event: AgentEvent): EventWindow {
  if (!window)
    return { base: null, recent: [event], middle: null, middleAt: 0, session: applyEvent(null, event) };
  const index = findPosition(event, window.recent);
  if (isKnown(event, window.recent, index)) return window;
  const kept = shareValues(event, window);
  const isNewest = index === window.recent.length;
  return shorten(
    isNewest
      ? append(window, [...window.recent, kept], kept)
      : replay(window, window.recent.toSpliced(index, 0, kept)),
  );
}

/** Most values of an event equal the session's. Sharing them keeps each in memory once, not once per event. */
function shareValues(event: AgentEvent, { session, recent }: EventWindow): AgentEvent {
  const { sessionId, cwd, project, transcriptPath, place } = session;
  const promptId = recent.at(-1)?.promptId ?? null;
  return {
    ...event,
    sessionId,
    promptId: event.promptId === promptId ? promptId : event.promptId,
    cwd: event.cwd === cwd ? cwd : event.cwd,
    project: event.project === project ? project : event.project,
    transcriptPath: event.transcriptPath === transcriptPath ? transcriptPath : event.transcriptPath,
    place: isSamePlace(place, event.place) ? place : event.place,
  };
}

/** A window for a saved session without its events. */
export function createWindow(session: Session): EventWindow {
  return { base: session, recent: [], middle: null, middleAt: 0, session };
}

/** What the snapshot keeps of a window. */
export type SavedEventWindow = Pick<EventWindow, "base" | "recent">;

export function restoreWindow({ base, recent }: SavedEventWindow): EventWindow | null {
  return recent.length > 0 ? replay({ base, middleAt: 0 }, recent) : base && createWindow(base);
}

/** Returns the index after the last event that is not newer: almost always the end. */
function findPosition(event: AgentEvent, recent: readonly AgentEvent[]): number {
  let index = recent.length;
  while (index > 0 && (recent[index - 1]?.t ?? 0) > event.t) index--;
  return index;
}

function isKnown(event: AgentEvent, recent: readonly AgentEvent[], index: number): boolean {
  for (let n = index - 1; recent[n]?.t === event.t; n--) if (recent[n]?.id === event.id) return true;
  return false;
}

function append(window: EventWindow, recent: readonly AgentEvent[], event: AgentEvent): EventWindow {
  const { base, middle, middleAt } = window;
  return { base, recent, middle, middleAt, session: applyEvent(window.session, event) };
}

function replay(
  { base, middleAt }: Pick<EventWindow, "base" | "middleAt">,
  recent: readonly AgentEvent[],
): EventWindow {
  let session = base;
  let middle: Session | null = null;
  recent.forEach((event, n) => {
    session = applyEvent(session, event);
    if (n + 1 === middleAt) middle = session;
  });
  return { base, recent, middle, middleAt, session: session as unknown as Session };
}

/** Drops the events before the middle once no late event can come before it. The current state is then the new middle. */
function shorten(window: EventWindow): EventWindow {
  const { base, recent, middle, middleAt, session } = window;
  if (recent.length - middleAt < stepEvents) return window;
  const settledT = recent[middleAt - 1]?.t ?? Number.NEGATIVE_INFINITY;
  const newestT = recent.at(-1)?.t ?? 0;
  if (newestT - settledT < timing.reorderMs && recent.length < maxEvents) return window;
  const rest = recent.slice(middleAt);
  return {
    base: middleAt === 0 ? base : middle,
    recent: rest,
    middle: session,
    middleAt: rest.length,
    session,
  };
}
