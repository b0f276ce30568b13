import { defaultConfig } from "../../../src/core/config/config.ts";
import { noPreferences } from "../../../src/core/config/preferences.ts";
import type { Moment } from "../../../src/core/session/event.ts";
import type { Session } from "../../../src/core/session/session.ts";
import { createSnapshot, type SessionSnapshot } from "../../../src/core/view/snapshot.ts";

/** A session as the API shows it to a user with default settings. */
export function takeSnapshot(session: Session, now: Moment): SessionSnapshot {
  return createSnapshot(session, now, {
    preferences: noPreferences,
    config: defaultConfig,
    formatTime: String,
  });
}
