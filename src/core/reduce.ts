/**
 * reduce: what is known of a session, and one more event, make what is known then.
 *
 * Events come late, twice and out of order. So the last few are kept in the order of their stamps, each with what was
 * known after it; one that belongs between them makes us tell the story anew from there. However they arrive, the same
 * events end in the same session. Sessions do not touch each other: the state is a map of them, and an event costs the
 * same with ten of them or ten thousand.
 */
import type { AgentEvent } from "./event.ts";
import type { Session } from "./session.ts";
import { step } from "./step.ts";

interface Told {
  readonly event: AgentEvent;
  /** When it came to us, on the same clock as the event's own `t`. */
  readonly arrived: number;
  /** What was known then. */
  readonly session: Session;
}

export interface Story {
  /** What was known before told[from]. */
  readonly base: Session | null;
  /** Only from..end is this story's: the one that goes on from here appends to the same list. */
  readonly told: Told[];
  readonly from: number;
  readonly end: number;
  readonly session: Session;
}

/** How long an event may be under way: a forwarder gives up after 1 s, the spool is read within another. */
const windowMs = 15_000;
const windowEvents = 64;

export function reduce(story: Story | undefined, event: AgentEvent, arrived: number): Story {
  if (!story) {
    const session = step(null, event);
    return { base: null, told: [{ event, arrived, session }], from: 0, end: 1, session };
  }
  const { base, end } = story;
  const place = placeOf(event, story);
  const before = place > story.from ? story.told[place - 1] : undefined;
  if (before?.event.id === event.id) return story;

  let session = step(before?.session ?? base, event);
  const { told, from } = upTo(place, story);
  told.push({ event, arrived, session });
  for (const later of place === end ? [] : story.told.slice(place, end)) {
    session = step(session, later.event);
    told.push({ ...later, session });
  }
  return trim({ base, told, from, end: told.length, session }, arrived);
}

/** A session as it was saved: nothing before it can be told anew. */
export function resume(session: Session): Story {
  return { base: session, told: [], from: 0, end: 0, session };
}

/** After the last event that does not come after it. Almost always that is the end. */
function placeOf(event: AgentEvent, { told, from, end }: Story): number {
  let place = end;
  while (place > from && comesAfter(told[place - 1]?.event, event)) place--;
  return place;
}

/** Those of one stamp have an order too: it must not depend on which came first. */
function comesAfter(a: AgentEvent | undefined, b: AgentEvent): boolean {
  if (!a) return false;
  return a.t === b.t ? a.id > b.id : a.t > b.t;
}

/** A list that ends there: the story's own where nothing was told after it, so that no event costs a copy. */
function upTo(place: number, { told, from }: Story): Pick<Story, "told" | "from"> {
  return place === told.length ? { told, from } : { told: told.slice(from, place), from: 0 };
}

/** Lets go of what nothing can come before any more. */
export function trim(story: Story, arrived: number): Story {
  const { told, from, end, session } = story;
  let first = Math.max(from, end - windowEvents);
  while (first < end && arrived - (told[first]?.arrived ?? 0) > windowMs) first++;
  const last = first > from ? told[first - 1] : undefined;
  if (!last) return story;
  // What was let go of stays in the list until a copy is worth it.
  const worthIt = first >= Math.min(16, end - first);
  return worthIt
    ? { base: last.session, told: told.slice(first, end), from: 0, end: end - first, session }
    : { base: last.session, told, from: first, end, session };
}
