/**
 * reduce: what is known of a session, and one more event, make what is known then.
 *
 * Events come late, twice and out of order. So the last few are kept in the order of their stamps; one that
 * belongs between them makes us tell the story anew from the last point that nothing can change any more.
 * However they arrive, the same events end in the same session. Sessions do not touch each other: the state is
 * a map of them, and an event costs the same with ten of them or ten thousand.
 */
import type { AgentEvent } from "./event.ts";
import type { Session } from "./session.ts";
import { step } from "./step.ts";

interface Arrival {
  readonly event: AgentEvent;
  /** When it came to us, on the same clock as the event's own `t`. */
  readonly arrived: number;
}

export interface Story {
  /** Everything before `recent`. */
  readonly base: Session | null;
  readonly recent: readonly Arrival[];
  readonly session: Session;
}

/** How long an event may be under way: a forwarder gives up after 1 s, the spool is read within another. */
const windowMs = 15_000;
const windowEvents = 64;

export function reduce(story: Story | undefined, event: AgentEvent, arrived: number): Story {
  const arrival = { event, arrived };
  if (!story) return { base: null, recent: [arrival], session: step(null, event) };
  if (story.recent.some((a) => a.event.id === event.id)) return story;

  const recent = [...story.recent];
  let place = recent.length;
  while (place > 0 && comesAfter(recent[place - 1]?.event, event)) place--;
  recent.splice(place, 0, arrival);
  const inOrder = place === recent.length - 1;
  const session = inOrder ? step(story.session, event) : tell(story.base, recent);
  return trim({ base: story.base, recent, session: session ?? story.session }, arrived);
}

/** A session as it was saved: nothing before it can be told anew. */
export function resume(session: Session): Story {
  return { base: session, recent: [], session };
}

function comesAfter(a: AgentEvent | undefined, b: AgentEvent): boolean {
  if (!a) return false;
  return a.t === b.t ? a.id > b.id : a.t > b.t;
}

function tell(base: Session | null, recent: readonly Arrival[]): Session | null {
  let session = base;
  for (const { event } of recent) session = step(session, event);
  return session;
}

/** Lets go of what nothing can come before any more. */
export function trim(story: Story, arrived: number): Story {
  let { base } = story;
  let from = 0;
  for (const arrival of story.recent) {
    const old = arrived - arrival.arrived > windowMs || story.recent.length - from > windowEvents;
    if (!old) break;
    base = step(base, arrival.event);
    from++;
  }
  return from === 0 ? story : { base, recent: story.recent.slice(from), session: story.session };
}
