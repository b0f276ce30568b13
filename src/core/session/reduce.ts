/**
 * reduce: what is known of a session, and one more event, make what is known then.
 *
 * Events come late, twice and out of order. So the last few are kept in the order of their stamps; one that belongs
 * between them makes us tell the story anew from the last point that nothing can change any more. However they arrive,
 * the same events end in the same session. Sessions do not touch each other: the state is a map of them, and an event
 * costs the same with ten of them or ten thousand.
 */

import { timing } from "../timing.ts";
import { applyEvent } from "./apply.ts";
import { type AgentEvent, isSamePlace } from "./event.ts";
import type { Session } from "./session.ts";

export interface EventWindow {
  /** What was known before the first of `recent`. */
  readonly base: Session | null;
  readonly recent: readonly AgentEvent[];
  /** What was known after the first `middleAt` of them: the next base. */
  readonly middle: Session | null;
  readonly middleAt: number;
  readonly session: Session;
}

/** The story moves on by so many events at once, and only past those that nothing can come before any more. */
const stepEvents = 8;
/** However fast they come. What is kept is also what the garbage collector walks through. */
const maxEvents = 512;

export function reduce(story: EventWindow | undefined, event: AgentEvent): EventWindow {
  if (!story)
    return { base: null, recent: [event], middle: null, middleAt: 0, session: applyEvent(null, event) };
  const place = placeOf(event, story.recent);
  if (isTwice(event, story.recent, place)) return story;
  const kept = sharing(event, story);
  const isNewest = place === story.recent.length;
  return shorten(
    isNewest
      ? goOn(story, [...story.recent, kept], kept)
      : tell(story, story.recent.toSpliced(place, 0, kept)),
  );
}

/** Most of what an event says is known: kept once, and not with each event. */
function sharing(event: AgentEvent, { session, recent }: EventWindow): AgentEvent {
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

/** A session as it was saved: nothing before it can be told anew. */
export function createWindow(session: Session): EventWindow {
  return { base: session, recent: [], middle: null, middleAt: 0, session };
}

/** All that it takes to tell a story anew. */
export type SavedEventWindow = Pick<EventWindow, "base" | "recent">;

export function restoreWindow({ base, recent }: SavedEventWindow): EventWindow | null {
  return recent.length > 0 ? tell({ base, middleAt: 0 }, recent) : base && createWindow(base);
}

/** After the last one that is not newer. Almost always that is the end. */
function placeOf(event: AgentEvent, recent: readonly AgentEvent[]): number {
  let place = recent.length;
  while (place > 0 && (recent[place - 1]?.t ?? 0) > event.t) place--;
  return place;
}

function isTwice(event: AgentEvent, recent: readonly AgentEvent[], place: number): boolean {
  for (let n = place - 1; recent[n]?.t === event.t; n--) if (recent[n]?.id === event.id) return true;
  return false;
}

function goOn(story: EventWindow, recent: readonly AgentEvent[], event: AgentEvent): EventWindow {
  const { base, middle, middleAt } = story;
  return { base, recent, middle, middleAt, session: applyEvent(story.session, event) };
}

function tell(
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

/** Lets go of what lies before the middle once nothing can come there any more; the middle is then here. */
function shorten(story: EventWindow): EventWindow {
  const { base, recent, middle, middleAt, session } = story;
  if (recent.length - middleAt < stepEvents) return story;
  const settledT = recent[middleAt - 1]?.t ?? Number.NEGATIVE_INFINITY;
  const newestT = recent.at(-1)?.t ?? 0;
  if (newestT - settledT < timing.reorderMs && recent.length < maxEvents) return story;
  const rest = recent.slice(middleAt);
  return {
    base: middleAt === 0 ? base : middle,
    recent: rest,
    middle: session,
    middleAt: rest.length,
    session,
  };
}
