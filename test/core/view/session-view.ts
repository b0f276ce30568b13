import { defaultConfig } from "../../../src/core/config/config.ts";
import { noPreferences } from "../../../src/core/config/preferences.ts";
import type { Moment } from "../../../src/core/session/event.ts";
import type { Session } from "../../../src/core/session/session.ts";
import { createSessionView, type SessionView } from "../../../src/core/view/session-view.ts";

/** A session as the API shows it to a user with default settings. */
export function viewSession(session: Session, now: Moment): SessionView {
  return createSessionView(session, now, {
    preferences: noPreferences,
    config: defaultConfig,
    formatTime: String,
  });
}
