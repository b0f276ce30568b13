import type { Config } from "../config/config.ts";
import type { Preferences } from "../config/preferences.ts";
import type { Moment } from "../session/event.ts";
import type { Session } from "../session/session.ts";
import { agesAt } from "./ages.ts";
import { groupSession } from "./groups.ts";

/** Finds the session that has needed the user for the longest time; null if none does. */
export function findNextWaiting(
  sessions: readonly Session[],
  { preferences, config, now }: { preferences: Preferences; config: Config; now: Moment },
): Session | null {
  const context = { preferences, config, ages: agesAt(now) };
  let next: { readonly session: Session; readonly since: number } | null = null;
  for (const session of sessions) {
    const { group, asks } = groupSession(session, context);
    const since = asks[0]?.at ?? 0;
    if (group === "needs_you" && (next === null || since < next.since)) next = { session, since };
  }
  return next?.session ?? null;
}
