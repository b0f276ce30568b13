/** What the work guard records of a session, as a line of the journal. It changes no session: only the history reads it. */
import type { SessionEvent } from "../../core/interfaces/wire.ts";
import { isRecord } from "../../core/json.ts";

/** No agent has this name, so nothing else takes the line for an event of a hook. */
const provider = "beckon";

export const createSessionEventBody = (key: string, event: SessionEvent): string =>
  JSON.stringify({ provider, key, session_event: event });

export interface JournalledSessionEvent {
  /** The session: `provider:sessionId`. Empty if the event belongs to none. */
  readonly key: string;
  readonly event: SessionEvent;
}

/** null if the line has another kind of event. */
export function readSessionEventBody(body: unknown): JournalledSessionEvent | null {
  if (!isRecord(body) || body.provider !== provider || typeof body.key !== "string") return null;
  const event = body.session_event;
  const names = ["id", "session_id", "event_type", "summary", "severity", "created_at"];
  if (!isRecord(event) || !names.every((name) => typeof event[name] === "string")) return null;
  return { key: body.key, event: event as unknown as SessionEvent };
}
