/**
 * reduce: what is known of a session, and one more event, make what is known then.
 *
 * Events come late, twice and out of order. So the last few are kept in the order of their stamps; one that belongs
 * between them makes us tell the story anew from the last point that nothing can change any more. However they arrive,
 * the same events end in the same session. Sessions do not touch each other: the state is a map of them, and an event
 * costs the same with ten of them or ten thousand.
 */
import { type AgentEvent, isSamePlace } from "./event.ts";
import type { Session } from "./session.ts";
import { step } from "./step.ts";

export interface Story {
  /** What was known before the first of `recent`. */
  readonly base: Session | null;
  readonly recent: readonly AgentEvent[];
  /** What was known after the first `windowEvents` of them: the next base. */
  readonly middle: Session | null;
  readonly session: Session;
}

/**
 * At least so many events can be put in order, and at most twice as many. An event is under way for 2 s at the most (a
 * forwarder gives up after one, the spool is read within another), in which no session does more. What is kept is also
 * what the garbage collector walks through.
 */
const windowEvents = 16;

export function reduce(story: Story | undefined, event: AgentEvent): Story {
  if (!story) return { base: null, recent: [event], middle: null, session: step(null, event) };
  const place = placeOf(event, story.recent);
  if (isTwice(event, story.recent, place)) return story;
  const kept = sharing(event, story.session);
  const isNewest = place === story.recent.length;
  return shorten(
    isNewest
      ? goOn(story, [...story.recent, kept], kept)
      : tell(story.base, story.recent.toSpliced(place, 0, kept)),
  );
}

/** Most of what an event says the session knows: kept once, and not with each of its events. */
function sharing(event: AgentEvent, session: Session): AgentEvent {
  const { sessionId, cwd, project, transcriptPath, place } = session;
  return {
    ...event,
    sessionId,
    cwd: event.cwd === cwd ? cwd : event.cwd,
    project: event.project === project ? project : event.project,
    transcriptPath: event.transcriptPath === transcriptPath ? transcriptPath : event.transcriptPath,
    place: isSamePlace(event.place, place) ? place : event.place,
  };
}

/** A session as it was saved: nothing before it can be told anew. */
export function resume(session: Session): Story {
  return { base: session, recent: [], middle: null, session };
}

/** All that it takes to tell a story anew. */
export type Telling = Pick<Story, "base" | "recent">;

export function retell({ base, recent }: Telling): Story | null {
  return recent.length > 0 ? tell(base, recent) : base && resume(base);
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

function goOn({ base, middle, session }: Story, recent: readonly AgentEvent[], event: AgentEvent): Story {
  const next = step(session, event);
  return { base, recent, middle: recent.length === windowEvents ? next : middle, session: next };
}

function tell(base: Session | null, recent: readonly AgentEvent[]): Story {
  let session = base;
  let middle: Session | null = null;
  recent.forEach((event, n) => {
    session = step(session, event);
    if (n + 1 === windowEvents) middle = session;
  });
  return { base, recent, middle, session: session as unknown as Session };
}

/** Lets go of the first half: nothing can come before it any more. */
function shorten(story: Story): Story {
  const { recent, middle, session } = story;
  if (recent.length < 2 * windowEvents) return story;
  return { base: middle, recent: recent.slice(windowEvents), middle: session, session };
}
