/** Which session a person means. */

import type { Config } from "../config/config.ts";
import type { Preferences } from "../config/preferences.ts";
import type { Moment } from "../session/event.ts";
import type { Session } from "../session/session.ts";
import { agesAt } from "./ages.ts";
import { rowOf } from "./tray-row.ts";

/** Why the person is not told of a session that waits for them ("muted", "snoozed until 14:20"); null: they are. */
export function silenceAt(given: {
  readonly wishes: Preferences;
  readonly config: Config;
  readonly now: Moment;
  readonly clock: (at: number, now: number) => string;
}): (session: Session) => string | null {
  const { wishes, config, now, clock } = given;
  const view = { wishes, config, ages: agesAt(now), clock: (at: number) => clock(at, now.at) };
  return (session) => rowOf(session, view)?.silence ?? null;
}

/** The one that has waited longest, of those that the tray says need you; null: none does. */
export function nextWaiting(
  sessions: readonly Session[],
  given: { readonly wishes: Preferences; readonly config: Config; readonly now: Moment },
): Session | null {
  const { wishes, config, now } = given;
  const view = { wishes, config, ages: agesAt(now), clock: String };
  const rows = sessions.flatMap((session) => rowOf(session, view) ?? []);
  const needing = rows.filter((row) => row.group === "needs you");
  return needing.sort((a, b) => a.since.at - b.since.at)[0]?.session ?? null;
}
