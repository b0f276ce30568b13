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
  /** What was known before the first of `recent`. */
  readonly base: Session | null;
  readonly recent: readonly Told[];
  readonly session: Session;
}

/** How long an event may be under way: a forwarder gives up after 1 s, the spool is read within another. */
const windowMs = 15_000;
const windowEvents = 64;

export function reduce(story: Story | undefined, event: AgentEvent, arrived: number): Story {
  if (!story) {
    const session = step(null, event);
    return { base: null, recent: [{ event, arrived, session }], session };
  }
  const { base, recent } = story;
  let place = recent.length;
  while (place > 0 && comesAfter(recent[place - 1]?.event, event)) place--;
  const before = recent[place - 1];
  if (before?.event.id === event.id) return story;

  let session = step(before?.session ?? base, event);
  const told: Told[] = recent.slice(0, place);
  told.push({ event, arrived, session });
  for (let n = place; n < recent.length; n++) {
    const later = recent[n] as Told;
    session = step(session, later.event);
    told.push({ ...later, session });
  }
  return trim({ base, recent: told, session }, arrived);
}

/** A session as it was saved: nothing before it can be told anew. */
export function resume(session: Session): Story {
  return { base: session, recent: [], session };
}

/** Those of one stamp have an order too: it must not depend on which came first. */
function comesAfter(a: AgentEvent | undefined, b: AgentEvent): boolean {
  if (!a) return false;
  return a.t === b.t ? a.id > b.id : a.t > b.t;
}

function trim(story: Story, arrived: number): Story {
  const { recent } = story;
  let from = Math.max(0, recent.length - windowEvents);
  while (from < recent.length && arrived - (recent[from]?.arrived ?? 0) > windowMs) from++;
  const last = recent[from - 1];
  return last ? { base: last.session, recent: recent.slice(from), session: story.session } : story;
}
